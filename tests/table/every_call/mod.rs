//! Every call on every kind of table: by value, borrowed, boxed and as a trait object, with nothing imported but the
//! prelude.

mod calls;

use numeric_table::prelude::*;
use numeric_table::table::spi::Piece;
use numeric_table::table::{by_mut, by_ref, records_mut, spi::TableId};
use numeric_table::{
    AnyArray, AosNumericTable, CsrNumericTable, MergedNumericTable, PackedSymmetricMatrix, PackedTriangularMatrix,
    RowMergedNumericTable, SoaNumericTable, impl_record,
    table::{BorrowedTable, BorrowedTableMut, Triangle},
};

/// The values of most tables here: symmetric, so that a packed matrix can have them, and ascending in each column.
pub(super) const VALUES: [f64; 9] = [1.0, 2.0, 3.0, 2.0, 5.0, 6.0, 3.0, 6.0, 9.0];
/// Those of a triangular matrix.
pub(super) const LOWER: [f64; 9] = [1.0, 0.0, 0.0, 2.0, 5.0, 0.0, 3.0, 6.0, 9.0];
const SHAPE: Shape = Shape { rows: 3, columns: 3 };

pub(super) fn homogeneous(layout: DataLayout) -> HomogenNumericTable<i16> {
    let table = HomogenNumericTable::from_array(VALUES.map(|value| value as i16).to_vec(), SHAPE).unwrap();
    table.to_layout(layout).unwrap()
}

pub(super) fn structure_of_arrays() -> SoaNumericTable {
    let columns = [
        ("a", AnyArray::from(vec![1_u8, 2, 3])),
        ("b", AnyArray::from(vec![2_f32, 5.0, 6.0])),
        ("c", AnyArray::from(vec![3_i64, 6, 9])),
    ];
    SoaNumericTable::from_columns(columns).unwrap()
}

#[derive(Clone, Copy)]
#[repr(C, align(8))] // 32 bits align `f64` to 4
pub(super) struct Record {
    b: f64,
    a: u8,
    c: i16,
}
impl_record!(Record { a: u8, b: f64, c: i16 });

pub(super) fn record_list() -> Vec<Record> {
    vec![Record { a: 1, b: 2.0, c: 3 }, Record { a: 2, b: 5.0, c: 6 }, Record { a: 3, b: 6.0, c: 9 }]
}

pub(super) fn records() -> AosNumericTable {
    AosNumericTable::from_records(record_list()).unwrap()
}

pub(super) fn borrowed_records(records: &mut [Record]) -> Box<dyn NumericTable + '_> {
    records_mut(records)
}

pub(super) fn sparse() -> CsrNumericTable {
    let values = VALUES.map(|value| value as f32).to_vec();
    CsrNumericTable::try_new(SHAPE, vec![0_u32, 3, 6, 9], [0_u32, 1, 2].repeat(3), values).unwrap()
}

pub(super) fn symmetric() -> PackedSymmetricMatrix {
    PackedSymmetricMatrix::from_full(&homogeneous(DataLayout::RowMajor), Triangle::Lower, DataLayout::RowMajor).unwrap()
}

pub(super) fn triangular() -> PackedTriangularMatrix {
    let full = HomogenNumericTable::from_array(LOWER.to_vec(), SHAPE).unwrap();
    PackedTriangularMatrix::from_full(&full, Triangle::Lower, DataLayout::ColumnMajor).unwrap()
}

pub(super) fn side_by_side() -> MergedNumericTable<'static> {
    let all = homogeneous(DataLayout::ColumnMajor);
    let right = all.select_columns(1..).unwrap().to_table().unwrap();
    let left = SoaNumericTable::from_columns([("a", vec![1_u64, 2, 3])]).unwrap();
    MergedNumericTable::new([Box::new(left) as Box<dyn NumericTable>, right]).unwrap()
}

pub(super) fn end_to_end() -> RowMergedNumericTable<'static> {
    let all = homogeneous(DataLayout::RowMajor);
    let parts = [all.head(1).unwrap().to_table().unwrap(), all.tail(2).unwrap().to_table().unwrap()];
    RowMergedNumericTable::new(parts).unwrap()
}

pub(super) fn borrowed(values: &[f64]) -> BorrowedTable<'_, f64> {
    BorrowedTable::new(values, SHAPE).unwrap()
}

pub(super) fn borrowed_mut(values: &mut [f64]) -> BorrowedTableMut<'_, f64> {
    BorrowedTableMut::new(values, SHAPE).unwrap()
}

pub(super) fn by_reference(table: &dyn NumericTable) -> Box<dyn NumericTable + '_> {
    by_ref(table)
}

pub(super) fn by_mutable_reference(table: &mut dyn NumericTable) -> Box<dyn NumericTable + '_> {
    by_mut(table)
}

/// A kind of table of a user: two pages are enough.
pub(super) struct Custom {
    id: TableId,
    dictionary: DataDictionary,
    values: Vec<u16>,
}

pub(super) fn custom() -> Custom {
    let dictionary = DataDictionary::uniform(Feature::new(ElementType::U16), 3);
    Custom { id: TableId::new(), dictionary, values: VALUES.map(|value| value as u16).to_vec() }
}

impl NumericTable for Custom {
    fn shape(&self) -> Shape {
        SHAPE
    }

    fn dictionary(&self) -> &DataDictionary {
        &self.dictionary
    }

    fn id(&self) -> TableId {
        self.id
    }

    fn piece(&self, _: usize, _: usize) -> Result<Option<Piece<'_>>, Error> {
        Ok(Some(Piece::new(0, 0, TableView::new(&self.values, SHAPE, DataLayout::RowMajor)?)))
    }
}
