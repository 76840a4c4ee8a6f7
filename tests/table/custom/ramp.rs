//! A kind of table that computes its values.

use numeric_table::prelude::*;
use numeric_table::table::spi::{Region, TableId, Target};

use super::Result;

/// The whole numbers from 0 on, row by row: computed, and written by nobody.
pub(crate) struct Ramp {
    id: TableId,
    shape: Shape,
    dictionary: DataDictionary,
}

impl Ramp {
    pub(crate) fn new(shape: Shape) -> Self {
        let dictionary = DataDictionary::uniform(Feature::new(ElementType::I32), shape.columns);
        Self { id: TableId::new(), shape, dictionary }
    }
}

impl NumericTable for Ramp {
    fn shape(&self) -> Shape {
        self.shape
    }

    fn dictionary(&self) -> &DataDictionary {
        &self.dictionary
    }

    fn id(&self) -> TableId {
        self.id
    }

    fn read_region(&self, region: &Region, target: Target<'_>) -> Result<()> {
        region.check(self.shape)?;
        target.fill_with(region, |row, column| (row * self.shape.columns + column) as i32)
    }
}
