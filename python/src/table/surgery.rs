//! Tables made from others: with some of their rows or columns, further columns, other names, another order.

use numeric_table::table::Rejected;
use numeric_table::{
    ConversionPolicy, CsrNumericTable, DataDictionary, Feature, NumericTable, TableCombination, TableConversion,
};
use pyo3::prelude::*;
use pyo3::types::PyMapping;

use crate::base::boundary::methods;
use crate::base::element::with_type;
use crate::base::error::{OrRaise, TableError};
use crate::base::numbers;
use crate::table::Table;
use crate::table::choose;
use crate::table::describe::set_name;
use crate::table::reading::{listed, owned};
use crate::table::sparse;
use crate::table::together;

#[methods]
impl Table {
    /// Returns the first ``n`` rows.
    #[pyo3(signature = (n = 5))]
    fn head(&self, py: Python<'_>, #[pyo3(from_py_with = numbers::count)] n: usize) -> PyResult<Self> {
        self.sliced(py, 0..n.min(self.len(py)))
    }

    /// Returns the last ``n`` rows.
    #[pyo3(signature = (n = 5))]
    fn tail(&self, py: Python<'_>, #[pyo3(from_py_with = numbers::count)] n: usize) -> PyResult<Self> {
        let count = self.len(py);
        self.sliced(py, count - n.min(count)..count)
    }

    /// Returns some columns, given their names or indices, in this order. Contiguously stored columns are not copied.
    ///
    /// >>> import numeric_table as nt
    /// >>> nt.Table([[1, 2, 3]], names=["a", "b", "c"]).select_columns(["c", "a"]).rows().tolist()
    /// [[3, 1]]
    fn select_columns(&self, py: Python<'_>, columns: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.selected(py, &choose::columns(py, self, columns)?)
    }

    /// Returns all columns except some, given their names or indices. Contiguously stored columns are not copied.
    ///
    /// >>> import numeric_table as nt
    /// >>> nt.Table([[1, 2, 3]], names=["a", "b", "c"]).drop_columns(["b"]).names
    /// ['a', 'c']
    fn drop_columns(&self, py: Python<'_>, columns: &Bound<'_, PyAny>) -> PyResult<Self> {
        let mut dropped = choose::columns(py, self, columns)?;
        dropped.sort_unstable();
        let mut rest = listed(0..self.column_count(py), "columns")?;
        rest.retain(|column| dropped.binary_search(column).is_err());
        self.selected(py, &rest)
    }

    /// Returns the table with some columns renamed: ``{"a": "b"}``. A key may be an index, and a name ``None``. A name
    /// that another column has is refused. The memory is shared.
    ///
    /// >>> import numeric_table as nt
    /// >>> nt.Table([[1, 2]], names=["a", "b"]).rename({"a": "b", "b": "a"}).names
    /// ['b', 'a']
    fn rename(&self, py: Python<'_>, names: &Bound<'_, PyMapping>) -> PyResult<Self> {
        let mut renamed = Vec::new();
        for item in &names.items()? {
            let (key, name): (Bound<'_, PyAny>, Option<String>) = item.extract()?;
            renamed.push((self.column_index(py, &key)?, name));
        }
        renamed.sort_unstable_by_key(|&(column, _)| column);
        if let Some(pair) = renamed.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            return Err(TableError::new_err(format!("column {} gets two names", pair[0].0)));
        }
        let mut table = self.snapshot(py)?;
        let mut dictionary = table.dictionary().clone();
        for (column, name) in &renamed {
            set_name(&mut dictionary, *column, name.clone()).or_raise()?;
        }
        for (column, name) in renamed {
            let Some(name) = name else { continue };
            let other = dictionary.names().enumerate().find(|&(other, of)| other != column && of == Some(&*name));
            if let Some((other, _)) = other {
                let text =
                    format!("columns {column} and {other} would both have the name {name:?}: drop or rename one");
                return Err(TableError::new_err(text));
            }
        }
        table.set_dictionary(dictionary).or_raise()?;
        Ok(Self::new(table))
    }
}

impl Table {
    pub(crate) fn selected(&self, py: Python<'_>, columns: &[usize]) -> PyResult<Self> {
        let table = self.read(py);
        let table = &**table;
        py.detach(|| together::select(table, columns)).or_raise().map(Self::new)
    }
}

/// Returns a table with an additional column, the only one of another table.
pub(crate) fn beside(
    table: &dyn NumericTable,
    name: String,
    column: &dyn NumericTable,
) -> numeric_table::Result<Box<dyn NumericTable>> {
    let Some(whole) = sparse::of(table) else {
        let columns = column.to_columns()?;
        let (feature, (array, validity)) = (columns.dictionary().feature(0)?.clone(), columns.nullable_column(0)?);
        let wider = table.with_nullable(feature.named(name), array.clone(), validity.cloned());
        return owned(&wider.map_err(Rejected::into_error)?, table);
    };
    let element = whole.values().element_type();
    let feature = Feature { element_type: element, ..column.dictionary().feature(0)?.clone().named(name.as_str()) };
    let mut new = with_type!(element, T => {
        CsrNumericTable::from_dense::<T>(&column.convert_with::<T>(ConversionPolicy::Exact)?)?
    });
    new.set_dictionary(DataDictionary::uniform(feature, 1))?;
    let all: [&dyn NumericTable; 2] = [whole, &new];
    let wider = match sparse::stack(&all, false)? {
        Some(wider) => wider,
        None => return all[0].hstack(&[all[1]])?.to_table(), // never: both are sparse, of one type
    };
    let Some(replaced) = whole.dictionary().index_of(&name) else { return Ok(Box::new(wider)) };
    let last = whole.shape().columns;
    let mut order = sparse::room(last)?;
    order.extend((0..last).map(|column| if column == replaced { last } else { column }));
    Ok(Box::new(sparse::select_columns(&wider, &order)?))
}
