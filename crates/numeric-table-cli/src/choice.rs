//! The chosen columns and rows of the blocks of an input.

use numeric_table::{DataDictionary, NumericTable, Result, TableConversion, TableSelection};

use crate::args::Choice;
use crate::columns;
use crate::failure::Outcome;
use crate::filter::Filter;
use crate::input::Block;

/// Which columns and rows of each block are kept.
pub(crate) struct Chooser {
    filter: Option<Filter>,
    columns: Option<Vec<usize>>,
}

impl Chooser {
    /// Finds the columns that the arguments name.
    pub(crate) fn new(args: &Choice, dictionary: &DataDictionary) -> Outcome<Self> {
        let filter = args.r#where.as_ref().map(|text| Filter::new(text, dictionary)).transpose()?;
        let columns = if args.columns.is_empty() { None } else { Some(columns::choose(&args.columns, dictionary)?) };
        Ok(Self { filter, columns })
    }

    /// Takes the choices of columns as their numbers, which may also be names of other columns.
    pub(crate) fn of_indices(args: &Choice, dictionary: &DataDictionary) -> Outcome<Self> {
        let columns = args.columns.iter().filter_map(|text| text.parse().ok()).collect();
        let all = Self::new(&Choice { columns: Vec::new(), ..args.clone() }, dictionary)?;
        Ok(Self { columns: Some(columns), ..all })
    }

    /// Returns whether everything is kept.
    pub(crate) fn is_all(&self) -> bool {
        self.filter.is_none() && self.columns.is_none()
    }

    pub(crate) fn has_filter(&self) -> bool {
        self.filter.is_some()
    }

    /// Returns the description of the chosen columns.
    pub(crate) fn dictionary(&self, dictionary: &DataDictionary) -> DataDictionary {
        match &self.columns {
            None => dictionary.clone(),
            Some(columns) => {
                let all: Vec<_> = dictionary.iter().collect();
                columns.iter().map(|&column| all[column].clone()).collect()
            }
        }
    }

    /// Returns the rows of a block that are kept, by number.
    pub(crate) fn kept(&self, block: &dyn NumericTable) -> Result<Option<Vec<bool>>> {
        self.filter.as_ref().map(|filter| filter.keeps(block)).transpose()
    }

    /// Returns the chosen columns of the chosen rows.
    pub(crate) fn apply(&self, block: Block) -> Result<Block> {
        let block = match self.kept(&*block)? {
            Some(kept) if kept.contains(&false) => block.filter_rows(&kept)?,
            _ => block,
        };
        self.columns_of(block)
    }

    /// Returns the chosen columns.
    pub(crate) fn columns_of(&self, block: Block) -> Result<Block> {
        match &self.columns {
            None => Ok(block),
            Some(columns) => block.select_columns(&columns[..])?.to_table(),
        }
    }
}
