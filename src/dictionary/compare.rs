//! Comparing two dictionaries: whether they are equal, and whether their tables can be joined.
//!
//! Every comparison takes time proportional to the dictionaries' memory at most, no matter how many equal columns a
//! file claims to have.

use std::collections::HashSet;
use std::sync::Arc;

use super::{Categories, DataDictionary, Feature, FeatureType, Features};
use crate::base::error::{Error, ErrorKind, Result};

impl DataDictionary {
    /// Returns the columns with their features in this and another dictionary, up to the shorter length. For two
    /// uniform dictionaries it returns only the first column, which represents all others. So a comparison takes time
    /// proportional to the dictionaries' memory at most: a few bytes of a file without rows may describe 2^60 equal
    /// columns.
    pub(crate) fn pairs<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = (usize, &'a Feature, &'a Feature)> {
        let both = self.len().min(other.len());
        let count = if self.is_uniform() && other.is_uniform() { both.min(1) } else { both };
        (0..count).map(|column| (column, self.at(column), other.at(column)))
    }

    /// Checks that another dictionary has the same number of columns, with the same element types.
    ///
    /// # Errors
    /// [`ErrorKind::DictionaryMismatch`] with the first feature of a different element type, if there is one.
    pub(crate) fn check_types(&self, new: &Self) -> Result<()> {
        let (features, columns, element) = (new.len(), self.len(), self.uniform_type());
        new.check_count(columns, || element)?;
        if element.is_some() && element == new.uniform_type() {
            return Ok(());
        }
        let mut types = self.pairs(new).map(|(column, old, new)| (column, old.element_type, new.element_type));
        match types.find(|(_, old, new)| old != new) {
            Some((column, element, found)) => Err(Error::new(ErrorKind::DictionaryMismatch {
                features,
                columns,
                element,
                actual: Some((column, found)),
            })),
            None => Ok(()),
        }
    }

    /// Checks that the rows of a table with another dictionary of the same length can be appended. No column may have
    /// the name of a different column here. Columns with labels or times must have the same labels or unit here.
    /// O(columns).
    ///
    /// # Errors
    /// [`ErrorKind::UnequalTables`] with the index of that table; [`ErrorKind::OutOfMemory`].
    pub(crate) fn check_follower(&self, table: usize, other: &Self) -> Result<()> {
        self.check_columns(table, other, |_, _| false)
    }

    /// Checks that results for the columns of another dictionary can be merged with results for these. Does the same as
    /// [`check_follower`](Self::check_follower), except that one list of labels may be a prefix of the other.
    ///
    /// # Errors
    /// Those of [`check_follower`](Self::check_follower), with the table index 1.
    pub(crate) fn check_addition(&self, other: &Self) -> Result<()> {
        self.check_columns(1, other, |mine, theirs| {
            mine.labels().zip(theirs.labels()).all(|(mine, theirs)| mine == theirs)
        })
    }

    /// Does the same as [`check_addition`](Self::check_addition), for results that keep only names: labels and times are
    /// not compared.
    ///
    /// # Errors
    /// [`ErrorKind::UnequalTables`], with the table index 1; [`ErrorKind::OutOfMemory`].
    pub(crate) fn check_names(&self, other: &Self) -> Result<()> {
        let mut names = None;
        self.pairs(other).try_for_each(|(column, mine, theirs)| self.check_name(&mut names, 1, column, mine, theirs))
    }

    /// Refuses a feature of another dictionary whose name belongs to a different column of this one. `names` caches the
    /// names of this dictionary.
    fn check_name<'n>(
        &'n self,
        names: &mut Option<HashSet<&'n str>>,
        table: usize,
        column: usize,
        mine: &Feature,
        theirs: &Feature,
    ) -> Result<()> {
        let Some(name) = theirs.name.as_deref().filter(|&name| mine.name.as_deref() != Some(name)) else {
            return Ok(());
        };
        let names = match names {
            Some(names) => names,
            none => none.insert(self.set_of_names()?),
        };
        if names.contains(name) { Err(Error::named_elsewhere(table, column, name)) } else { Ok(()) }
    }

    /// See [`check_follower`](Self::check_follower). `is_same` compares the labels of categories that are not equal.
    fn check_columns(
        &self,
        table: usize,
        other: &Self,
        is_same: impl Fn(&Categories, &Categories) -> bool,
    ) -> Result<()> {
        let mut names = None;
        for (column, mine, theirs) in self.pairs(other) {
            self.check_name(&mut names, table, column, mine, theirs)?;
            if let Some(labels) = theirs.categories.as_ref().filter(|labels| labels.has_labels())
                && mine.categories.as_ref() != Some(labels)
                && !mine.categories.as_ref().is_some_and(|mine| is_same(mine, labels))
            {
                return Err(Error::unequal_categories(table, column));
            }
            if matches!(theirs.feature_type, FeatureType::Time(_)) && mine.feature_type != theirs.feature_type {
                return Err(Error::unequal_features(table, column, "feature type"));
            }
        }
        Ok(())
    }

    /// Returns a set of all names.
    fn set_of_names(&self) -> Result<HashSet<&str>> {
        let (names, mut set) = (self.listed().filter_map(|feature| feature.name.as_deref()), HashSet::new());
        for name in names {
            set.try_reserve(1).map_err(|_| Error::out_of_memory(set.len() * size_of::<&str>()))?;
            set.insert(name);
        }
        Ok(set)
    }
}

/// Compares feature by feature. A uniform dictionary equals one that lists the same feature for every column.
impl PartialEq for DataDictionary {
    fn eq(&self, other: &Self) -> bool {
        match (&self.features, &other.features) {
            (Features::Equal(mine, count), Features::Equal(theirs, other)) => {
                count == other && (*count == 0 || mine == theirs)
            }
            (Features::Each(mine), Features::Each(theirs)) if Arc::ptr_eq(mine, theirs) => true,
            _ => self.len() == other.len() && self.iter().eq(other.iter()),
        }
    }
}

impl Eq for DataDictionary {}
