//! A kind of table that borrows what it shows.

use numeric_table::prelude::*;
use numeric_table::table::spi::{Piece, TableId};
use numeric_table::{
    files::{self, SaveOptions},
    statistics::BasicStatistics,
};

use super::{Result, values_of};

/// Somebody's memory, row by row.
struct View<'a> {
    id: TableId,
    values: TableView<'a, f32>,
    dictionary: DataDictionary,
}

impl<'a> View<'a> {
    fn new(values: &'a [f32], shape: Shape) -> Self {
        let dictionary = DataDictionary::uniform(Feature::new(ElementType::F32), shape.columns);
        let values = TableView::new(values, shape, DataLayout::RowMajor).unwrap();
        Self { id: TableId::new(), values, dictionary }
    }
}

impl NumericTable for View<'_> {
    fn shape(&self) -> Shape {
        self.values.shape()
    }

    fn dictionary(&self) -> &DataDictionary {
        &self.dictionary
    }

    fn id(&self) -> TableId {
        self.id
    }

    fn piece(&self, _: usize, _: usize) -> Result<Option<Piece<'_>>> {
        Ok(Some(Piece::new(0, 0, self.values)))
    }
}

#[test]
fn borrowed_values_are_a_table_while_the_loan_lasts() {
    let values = vec![1.5_f32, 2.0, -3.0, 4.0, 5.0, 600.0];
    let statistics = {
        let view = View::new(&values, Shape { rows: 3, columns: 2 });
        let table: &dyn NumericTable = &view;
        let rows = table.rows::<f32>(1..).unwrap();
        assert!(rows.is_zero_copy() && rows.as_ptr() == values[2..].as_ptr());
        assert_eq!(&table.rows::<f64>(..2).unwrap()[..], [1.5, 2.0, -3.0, 4.0]);
        assert_eq!(&table.column::<u8>(1, ..).unwrap()[..], [2, 4, 255]);
        let refused = table.rows_with::<u8>(.., ConversionPolicy::Checked);
        assert!(
            refused
                .as_ref()
                .is_err_and(|error| matches!(error.kind(), ErrorKind::ValueNotRepresentable { row: 1, column: 0, .. }))
        );
        let mut block = BlockDescriptor::<f32>::new();
        assert_eq!(table.read_rows(2.., &mut block).unwrap(), [5.0, 600.0]);
        assert!(!block.is_zero_copy()); // it may outlive the loan
        let sums: Vec<f32> = table.row_blocks::<f32>(2).unwrap().map(|block| block.unwrap().iter().sum()).collect();
        assert_eq!(sums, [4.5, 605.0]);
        assert_eq!(
            table.to_string(),
            "3 x 2 f32, row major\n      0      1\n0   1.5    2.0\n1  -3.0    4.0\n2   5.0  600.0"
        );
        BasicStatistics::compute(table).unwrap()
    };
    assert_eq!(statistics.per_column().iter().map(|column| column.mean()).collect::<Vec<_>>(), [3.5 / 3.0, 202.0]);
}

#[test]
fn borrowed_values_are_saved_and_are_not_written() {
    let (folder, values) = (tempfile::tempdir().unwrap(), [1.0_f32, 2.0, 3.0, 4.0]);
    let path = folder.path().join("table.ntb");
    let mut tables: Vec<Box<dyn NumericTable + '_>> = vec![Box::new(View::new(&values, Shape { rows: 2, columns: 2 }))];
    let table = &mut *tables[0];
    table.save_with(&path, SaveOptions::new().durable(false)).unwrap();
    assert_eq!(values_of::<f32>(&*files::load(&path).unwrap()), values);
    assert_eq!(values_of::<f32>(&*files::from_bytes(&table.to_bytes().unwrap()).unwrap()), values);
    assert!(table.rows_mut::<f32>(..).is_err_and(|error| matches!(error.kind(), ErrorKind::ReadOnlyTable)));
    assert!(table.rows_mut::<f64>(..).is_err_and(|error| matches!(error.kind(), ErrorKind::ReadOnlyTable)));
    assert!(table.set_value(0, 0, 1.0_f32).is_err_and(|error| matches!(error.kind(), ErrorKind::ReadOnlyTable)));
    assert!(table.fill(1).is_err_and(|error| matches!(error.kind(), ErrorKind::ReadOnlyTable)));
    let mut block = BlockDescriptor::<f32>::new();
    let refused = table.get_block_of_rows(0, 1, ReadWriteMode::WriteOnly, &mut block);
    assert!(refused.as_ref().is_err_and(|error| matches!(error.kind(), ErrorKind::ReadOnlyTable)));
}
