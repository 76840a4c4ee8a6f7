//! Looking up columns by name: an index of a dictionary, built when many names are looked up.
//!
//! A single lookup compares name by name, which needs no memory. Once the lookups have cost as much as building an
//! index, the index is built and kept up to date from then on. So any number of lookups and changes takes O(1) each.
//! Invariant of [`Names`]: every named column is listed once, under the hash of its name.

use std::collections::hash_map::{Entry, RandomState};
use std::collections::{BTreeSet, HashMap};
use std::hash::BuildHasher;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Dictionaries with at most this number of columns have no index.
const FEW: usize = 32;

/// The number of times that all names are compared before an index is built.
const SCANS: usize = 4;

/// An index that is built on demand. Clones begin without one.
#[derive(Debug, Default)]
pub(super) struct NameIndex {
    names: OnceLock<Names>,
    /// The number of names compared so far.
    compared: AtomicUsize,
}

impl Clone for NameIndex {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl NameIndex {
    /// Returns the first column with the given name. `name_of` returns the names of `count` columns.
    pub(super) fn find<'n>(
        &self,
        name: &str,
        count: usize,
        name_of: impl Fn(usize) -> Option<&'n str>,
    ) -> Option<usize> {
        if count > FEW && self.names.get().is_none() && self.compared.load(Ordering::Relaxed) >= count * SCANS {
            // Without memory for an index, lookups keep comparing names.
            if let Some(names) = Names::new(count, &name_of) {
                let _ = self.names.set(names); // another thread may have made the same
            }
        }
        if let Some(names) = self.names.get() {
            return names.find(name, name_of);
        }
        let found = (0..count).find(|&column| name_of(column) == Some(name));
        if count > FEW {
            let compared = found.map_or(count, |column| column + 1);
            self.compared.fetch_add(compared, Ordering::Relaxed); // wraps after 2^64 comparisons
        }
        found
    }

    /// Records that a column was renamed.
    pub(super) fn rename(&mut self, column: usize, old: Option<&str>, new: Option<&str>) {
        if old == new {
            return;
        }
        if let (Some(names), Some(old)) = (self.names.get_mut(), old) {
            names.remove(old, column);
        }
        self.add(column, new);
    }

    /// Records that a column was added.
    pub(super) fn add(&mut self, column: usize, name: Option<&str>) {
        if let (Some(names), Some(name)) = (self.names.get_mut(), name)
            && names.insert(name, column).is_none()
        {
            self.names.take(); // without memory for the column, there is none for an index
        }
    }

    /// Returns whether an index exists, which must be kept up to date.
    pub(super) fn is_known(&self) -> bool {
        self.names.get().is_some()
    }
}

/// The columns that have names.
#[derive(Debug)]
struct Names {
    hasher: RandomState,
    of_hash: HashMap<u64, Columns>,
}

/// The columns whose names have the same hash. Nearly always one column, unless names are repeated.
#[derive(Debug)]
enum Columns {
    One(usize),
    Many(BTreeSet<usize>),
}

impl Names {
    /// Lists all columns; `None` if there is not enough memory.
    fn new<'n>(count: usize, name_of: impl Fn(usize) -> Option<&'n str>) -> Option<Self> {
        let mut new = Self { hasher: RandomState::new(), of_hash: HashMap::new() };
        for column in 0..count {
            if let Some(name) = name_of(column) {
                new.insert(name, column)?;
            }
        }
        Some(new)
    }

    /// Returns the first column with the given name.
    fn find<'n>(&self, name: &str, name_of: impl Fn(usize) -> Option<&'n str>) -> Option<usize> {
        let is = |&column: &usize| name_of(column) == Some(name);
        match self.of_hash.get(&self.hasher.hash_one(name))? {
            Columns::One(column) => Some(*column).filter(is),
            Columns::Many(columns) => columns.iter().copied().find(is),
        }
    }

    /// Lists a column that is not yet listed; `None` if there is not enough memory.
    fn insert(&mut self, name: &str, column: usize) -> Option<()> {
        self.of_hash.try_reserve(1).ok()?;
        match self.of_hash.entry(self.hasher.hash_one(name)) {
            Entry::Vacant(none) => {
                none.insert(Columns::One(column));
            }
            Entry::Occupied(mut others) => match others.get_mut() {
                Columns::Many(columns) => {
                    columns.insert(column);
                }
                Columns::One(other) => {
                    let both = BTreeSet::from([*other, column]);
                    others.insert(Columns::Many(both));
                }
            },
        }
        Some(())
    }

    /// Removes a column from the list.
    fn remove(&mut self, name: &str, column: usize) {
        let Entry::Occupied(mut columns) = self.of_hash.entry(self.hasher.hash_one(name)) else { return };
        let is_empty = match columns.get_mut() {
            Columns::One(only) => *only == column,
            Columns::Many(columns) => {
                columns.remove(&column);
                columns.is_empty()
            }
        };
        if is_empty {
            columns.remove();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Looks up every name, often enough to build an index, and compares the results with a search name by name.
    fn check(index: &NameIndex, names: &[Option<String>]) {
        for wanted in names.iter().flatten().map(String::as_str).chain(["none"]) {
            let expected = names.iter().position(|name| name.as_deref() == Some(wanted));
            assert_eq!(index.find(wanted, names.len(), |column| names[column].as_deref()), expected, "{wanted}");
        }
    }

    #[test]
    fn an_index_finds_the_first_column_of_each_name_after_every_change() {
        let mut names: Vec<_> = (0..100).map(|column| Some(format!("c{}", column % 60))).collect();
        names[7] = None;
        let mut index = NameIndex::default();
        check(&index, &names);
        assert!(index.is_known());
        for (column, new) in [(0, Some("x")), (60, None), (7, Some("c1")), (1, Some("y")), (99, Some("c0")), (3, None)]
        {
            let old = std::mem::replace(&mut names[column], new.map(String::from));
            index.rename(column, old.as_deref(), new);
            names.push(Some(format!("c{column}")));
            index.add(names.len() - 1, names[names.len() - 1].as_deref());
            check(&index, &names);
        }
        assert!(!index.clone().is_known());
    }

    #[test]
    fn one_look_up_makes_no_index() {
        let index = NameIndex::default();
        assert_eq!(index.find("c", 1000, |column| (column == 999).then_some("c")), Some(999));
        assert!(!index.is_known());
    }
}
