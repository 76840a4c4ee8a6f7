//! The array of structures.

use numeric_table::table::{Rejected, records, records_mut, spi::TableKind};
use numeric_table::{
    AosNumericTable, MergedNumericTable, bf16, f16, impl_record, prelude::*, statistics::BasicStatistics,
    table::RecordLayout,
};
use test_support::sized;
use test_support::tables::{address, assert_error, shape};

/// DAAL's record: 24 bytes, offsets 0, 4, 8 and 16.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
struct Point {
    x: f32,
    y: f32,
    categ: i32,
    value: f64,
}
impl_record!(Point { x: f32, y: f32, categ: i32, value: f64 });

fn points() -> Vec<Point> {
    let point = |(x, y, categ, value)| Point { x, y, categ, value };
    [(0.5, -1.3, 1, 100.1), (2.5, -3.3, 2, 200.2), (4.5, -5.3, 2, 350.3), (6.5, -7.3, 0, 470.4), (8.5, -9.3, 1, 270.5)]
        .map(point)
        .to_vec()
}

fn points_table() -> AosNumericTable {
    AosNumericTable::from_records(points()).unwrap()
}

fn layout_of(size: usize, fields: &[(ElementType, usize)]) -> RecordLayout {
    let start = RecordLayout::new(size);
    fields.iter().fold(start, |layout, &(element, offset)| layout.field("", element, offset).unwrap())
}

#[test]
fn records_of_three_types_are_read_as_rows_of_another() {
    let mut table = points_table();
    assert_eq!((table.kind(), table.uniform_type()), (TableKind::ARRAY_OF_STRUCTURES, None));
    assert_eq!([0, 1, 2, 3].map(|column| table.layout().offset(column).unwrap()), [0, 4, 8, 16]);
    let f = |value: f32| f64::from(value);
    assert_eq!(table.rows::<f64>(1..3).unwrap()[..], [2.5, f(-3.3), 2.0, 200.2, 4.5, f(-5.3), 2.0, 350.3]);
    assert_eq!(table.column::<i32>(2, ..).unwrap()[..], [1, 2, 2, 0, 1]);
    assert_eq!(table.column::<f64>(3, 3..).unwrap()[..], [470.4, 270.5]);
    let mut features = table.dictionary().iter().cloned().collect::<Vec<_>>();
    features[2] = features[2].clone().categorical(4);
    table.set_dictionary(features.into_iter().collect()).unwrap();
    assert_eq!(table.category_count(2).unwrap(), Some(4));
    let sum = |column: usize| BasicStatistics::compute(&table).unwrap().per_column()[column].sum();
    assert_eq!((sum(0), sum(2)), (22.5, 6.0));
}

/// DAAL only changes the count of rows.
#[test]
fn records_that_are_added_are_zeros_and_the_callers_memory_stays_as_it_was() {
    let mine = Array::from(points());
    let mut table = AosNumericTable::from_records(mine.clone()).unwrap();
    table.resize(7).unwrap();
    assert_eq!(table.rows::<i32>(4..).unwrap()[..], [8, -9, 1, 270, 0, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(table.records::<Point>().unwrap()[6], Point { x: 0.0, y: 0.0, categ: 0, value: 0.0 });
    assert_eq!(table.data_memory_status(), MemoryStatus::InternallyAllocated);
    table.resize(2).unwrap();
    table.resize(3).unwrap();
    assert_eq!(table.rows::<i32>(1..).unwrap()[..], [2, -3, 2, 200, 0, 0, 0, 0]); // not what was cut off
    assert_eq!(mine[..], points());
    assert!(table.resize(usize::MAX).is_err() && table.resize(usize::MAX / 24).is_err());
    assert_eq!(table.shape(), shape(3, 4));
}

/// DAAL's table says that it has no memory.
#[test]
fn records_have_the_status_of_who_has_allocated_them() {
    assert_eq!(points_table().data_memory_status(), MemoryStatus::UserAllocated);
    let zeros = AosNumericTable::zeros(&RecordLayout::of::<Point>(), 3).unwrap();
    assert_eq!(zeros.data_memory_status(), MemoryStatus::InternallyAllocated);
    assert_eq!(zeros.records::<Point>().unwrap().len(), 3);
}

/// DAAL packs them in the order of the columns when they are read back.
#[test]
fn fields_out_of_the_order_of_their_offsets_stay_where_they_are() {
    let layout =
        layout_of(8, &[(ElementType::U16, 4), (ElementType::U16, 0), (ElementType::U16, 6), (ElementType::U16, 2)]);
    let values = Array::from(vec![10_u16, 20, 30, 40, 11, 21, 31, 41]).reinterpret::<u8>().unwrap();
    let mut table = AosNumericTable::from_record_bytes(values.clone(), &layout).unwrap();
    assert_eq!(table.rows::<u16>(..).unwrap()[..], [30, 10, 40, 20, 31, 11, 41, 21]);
    assert_eq!(table.layout(), layout);
    table.set_value(1, 0, 99).unwrap();
    assert_eq!(table.rows::<u16>(..).unwrap()[..], [30, 10, 40, 20, 99, 11, 41, 21]);
    assert_eq!(values.reinterpret::<u16>().unwrap()[..], [10, 20, 30, 40, 11, 21, 31, 41]);
}

/// DAAL accepts it.
#[test]
fn a_field_past_the_record_is_refused() {
    for (element, offset) in [(ElementType::F64, 9), (ElementType::U8, 16), (ElementType::F32, usize::MAX)] {
        let refused = RecordLayout::new(16).field("a", ElementType::U8, 0).unwrap().field("b", element, offset);
        assert_error!(
            refused,
            ErrorKind::RecordLayout { column: Some(1), reason, .. }
                if reason.contains("outside its record") && reason.contains(&format!("at byte {offset} "))
        );
    }
    assert_error!(
        RecordLayout::new(0).field("a", ElementType::U8, 0),
        ErrorKind::RecordLayout { .. },
        "outside its record"
    );
    let array = RecordLayout::new(16).array("a", ElementType::F32, 8, 3);
    assert_error!(array, ErrorKind::RecordLayout { column: Some(2), .. }, "outside its record");
    assert_error!(
        RecordLayout::new(usize::MAX).array("a", ElementType::F32, 0, usize::MAX),
        ErrorKind::LimitExceeded { what: "columns", .. }
    );
    assert_error!(
        RecordLayout::new(16).array("a", ElementType::F32, usize::MAX, 2),
        ErrorKind::RecordLayout { .. },
        "outside its record"
    );
}

#[test]
fn records_without_bytes_and_parts_of_records_are_refused() {
    let empty = AosNumericTable::from_record_bytes(vec![1, 2], &RecordLayout::new(0));
    assert_error!(empty, ErrorKind::RecordLayout { .. }, "at least one byte");
    assert_error!(
        AosNumericTable::zeros(&RecordLayout::new(0), 2),
        ErrorKind::RecordLayout { .. },
        "at least one byte"
    );
    let layout = layout_of(3, &[(ElementType::U8, 1)]);
    let refused = AosNumericTable::from_record_bytes(vec![1, 2, 3, 4], &layout);
    assert_error!(refused, ErrorKind::RecordLayout { .. }, "do not divide into records");
    let none = AosNumericTable::from_record_bytes(Vec::new(), &layout).unwrap();
    assert_eq!((none.shape(), none.rows::<f64>(..).unwrap().len()), (shape(0, 1), 0));
    let no_columns = AosNumericTable::from_record_bytes(vec![1, 2, 3], &RecordLayout::new(3)).unwrap();
    assert_eq!(no_columns.shape(), shape(1, 0));
    for rows in [usize::MAX, usize::MAX / 3, isize::MAX as usize / 3 + 1] {
        assert!(AosNumericTable::zeros(&layout, rows).is_err());
    }
}

#[test]
fn fields_that_overlap_are_read_and_never_written() {
    let layout = layout_of(4, &[(ElementType::U16, 2), (ElementType::U32, 0), (ElementType::U8, 0)]);
    assert_eq!(layout.overlap(), Some((1, 2)));
    let word = u32::from_ne_bytes([1, 2, 3, 4]);
    let half = u16::from_ne_bytes([3, 4]);
    // Aligned, and not: the second is copied into records without overlap, and is as read-only.
    let at_one = layout_of(5, &[(ElementType::U16, 3), (ElementType::U32, 1), (ElementType::U8, 1)]);
    for (bytes, layout) in [(vec![1, 2, 3, 4], layout), (vec![99, 1, 2, 3, 4], at_one)] {
        let mut table = AosNumericTable::from_record_bytes(bytes, &layout).unwrap();
        assert_eq!(table.rows::<u32>(..).unwrap()[..], [u32::from(half), word, 1]);
        assert_error!(table.set_value(0, 0, 1), ErrorKind::OverlappingFields { first: 1, second: 2 });
        assert_error!(table.rows_mut::<u32>(..), ErrorKind::OverlappingFields { .. });
        assert_error!(table.fill(0), ErrorKind::OverlappingFields { .. });
        assert_error!(table.pieces_mut(), ErrorKind::OverlappingFields { .. });
        let mut block = BlockDescriptor::<f64>::new();
        assert_error!(
            table.get_block_of_rows(0, 1, ReadWriteMode::ReadWrite, &mut block),
            ErrorKind::OverlappingFields { .. }
        );
        assert_eq!(table.rows::<u32>(..).unwrap()[..], [u32::from(half), word, 1]);
    }
    let twice = layout_of(2, &[(ElementType::U16, 0), (ElementType::U16, 0)]);
    let table = AosNumericTable::from_record_bytes(5_u16.to_ne_bytes(), &twice).unwrap();
    assert_eq!(table.rows::<u16>(..).unwrap()[..], [5, 5]);
    let mut one = [One { x: 3.5 }];
    let mut merged = MergedNumericTable::new([records_mut(&mut one), Box::new(table)]).unwrap();
    assert_error!(merged.fill(0), ErrorKind::OverlappingFields { first: 1, second: 2 });
}

#[derive(Clone, Copy, Debug)]
struct One {
    x: f32,
}
impl_record!(One { x });

#[test]
fn packed_records_are_copied_into_aligned_ones() {
    let layout = layout_of(20, &[(ElementType::F32, 0), (ElementType::F64, 4), (ElementType::F64, 12)]);
    let bytes = [0.5_f32, 1.5].into_iter().flat_map(|x| {
        [&x.to_ne_bytes()[..], &(f64::from(x) + 1.0).to_ne_bytes(), &(f64::from(x) + 2.0).to_ne_bytes()].concat()
    });
    let bytes = Array::from(bytes.collect::<Vec<u8>>());
    let mut table = AosNumericTable::from_record_bytes(bytes.clone(), &layout).unwrap();
    assert_eq!((table.layout().size(), table.layout().offset(1).unwrap()), (24, 8));
    assert_eq!(table.rows::<f64>(..).unwrap()[..], [0.5, 1.5, 2.5, 1.5, 2.5, 3.5]);
    table.fill(7).unwrap();
    assert_eq!(table.rows::<f64>(..).unwrap()[..], [7.0; 6]);
    assert_eq!(bytes[..4], 0.5_f32.to_ne_bytes());
    // Bytes that begin at an odd address keep their layout.
    let aligned = layout_of(4, &[(ElementType::F32, 0)]);
    let odd = Array::from([&[0, 0][..], &1.5_f32.to_ne_bytes()].concat());
    for start in [1, 2] {
        let part = odd.slice(start..start + 4).unwrap();
        let table = AosNumericTable::from_record_bytes(part.clone(), &aligned).unwrap();
        assert_eq!(table.value::<f32>(0, 0).unwrap(), f32::from_ne_bytes(part[..].try_into().unwrap()));
        assert_eq!(table.layout(), aligned);
    }
}

#[test]
fn aligned_bytes_are_shared_and_copied_when_they_are_written() {
    let bytes = Array::from(vec![1_u32, 2, 3, 4]).reinterpret::<u8>().unwrap();
    let layout = layout_of(8, &[(ElementType::U32, 0)]);
    let mut table = AosNumericTable::from_record_bytes(bytes.clone(), &layout).unwrap();
    let (first, count) = (address(&bytes), bytes.owner_count());
    assert_eq!(count, 2);
    let clone = table.clone();
    table.set_value(1, 0, 30).unwrap();
    assert_eq!((table.value::<u32>(1, 0).unwrap(), clone.value::<u32>(1, 0).unwrap()), (30, 3));
    assert_eq!(bytes.reinterpret::<u32>().unwrap()[..], [1, 2, 3, 4]);
    assert_eq!((bytes.owner_count(), address(&bytes)), (2, first));
    drop((bytes, table));
    let mut last = clone;
    last.set_value(0, 0, 10).unwrap(); // the only owner by now
    assert_eq!(last.column::<u32>(0, ..).unwrap()[..], [10, 3]);
    // A refused write copies nothing.
    let shared = Array::from(points());
    let mut table = AosNumericTable::from_records(shared.clone()).unwrap();
    assert_error!(table.set_value(0, 2, 1e300), ErrorKind::ValueNotRepresentable { row: 0, column: 2, .. });
    assert_eq!(address(table.records::<Point>().unwrap()), address(&shared));
}

#[test]
fn the_records_come_back_as_the_vector_that_they_were() {
    let vector = points();
    let place = address(&vector);
    let mut table = AosNumericTable::from_records(vector).unwrap();
    table.set_value(0, 3, -1.0).unwrap();
    let clone = table.clone();
    let copied = table.into_records::<Point>().unwrap(); // shared
    assert!(address(&copied) != place && copied[0].value == -1.0);
    let back = clone.into_records::<Point>().unwrap();
    assert_eq!((address(&back), back.len(), back[0].value), (place, 5, -1.0));
    let mut table = AosNumericTable::from_records(back).unwrap();
    table.resize(2).unwrap();
    assert_eq!(table.into_records::<Point>().unwrap().len(), 2);
    let Rejected { value, error } = points_table().into_records::<One>().unwrap_err();
    assert_eq!(value.shape(), shape(5, 4));
    assert!(matches!(
        error.kind(),
        ErrorKind::RecordLayout { reason, .. } if reason.contains("not of type") && reason.contains("One")
    ));
}

#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
struct SameAsPoint {
    head: [f32; 2],
    kind: i32,
    tail: f64,
}
impl_record!(SameAsPoint { head, kind, tail });

#[derive(Clone, Copy, Debug)]
#[repr(C)]
struct Unsigned {
    head: [f32; 2],
    kind: u32,
    tail: f64,
}
impl_record!(Unsigned { head, kind, tail });

#[test]
fn records_are_borrowed_as_any_type_with_the_same_fields_in_the_same_places() {
    let mut table = points_table();
    assert_eq!(table.records::<SameAsPoint>().unwrap()[1], SameAsPoint { head: [2.5, -3.3], kind: 2, tail: 200.2 });
    table.records_mut::<SameAsPoint>().unwrap()[1].kind = 5;
    assert_eq!(table.records::<Point>().unwrap()[1].categ, 5);
    assert_eq!(table.into_records::<SameAsPoint>().unwrap()[1].kind, 5);
    let mut table = points_table();
    assert_error!(table.records::<Unsigned>(), ErrorKind::RecordLayout { .. }, "not of type");
    assert_error!(table.records_mut::<Unsigned>(), ErrorKind::RecordLayout { .. }, "not of type");
    assert_error!(table.records::<One>(), ErrorKind::RecordLayout { .. }, "not of type");
    // By bytes, with columns in another order; the gap belongs to whoever lends the bytes.
    let layout =
        layout_of(24, &[(ElementType::F64, 16), (ElementType::F32, 4), (ElementType::F32, 0), (ElementType::I32, 8)]);
    let bytes = Array::from(vec![7_u64; 6]).reinterpret::<u8>().unwrap();
    let mut table = AosNumericTable::from_record_bytes(bytes.clone(), &layout).unwrap();
    drop(bytes);
    table.records_mut::<Point>().unwrap().copy_from_slice(&points()[..2]);
    assert_eq!(table.rows::<f32>(..).unwrap()[..], [100.1, -1.3, 0.5, 1.0, 200.2, -3.3, 2.5, 2.0]);
    assert_eq!(table.into_records::<Point>().unwrap(), points()[..2]);
    // With a field in the gap it is another record.
    let full = layout.field("gap", ElementType::U32, 12).unwrap();
    let table = AosNumericTable::zeros(&full, 2).unwrap();
    assert_error!(table.records::<Point>(), ErrorKind::RecordLayout { .. }, "not of type");
}

/// A record with fields that are no numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Labelled {
    name: &'static str,
    length: f32,
    is_open: bool,
    width: f32,
}
impl_record!(Labelled { width, length, .. });

#[test]
fn fields_that_are_no_columns_stay_as_they_are() {
    let labelled = |name, length, width| Labelled { name, length, is_open: true, width };
    let mut table = AosNumericTable::from_records([labelled("a", 1.5, 2.5), labelled("b", 3.5, 4.5)]).unwrap();
    let before = table.clone();
    assert_eq!(table.rows::<f64>(..).unwrap()[..], [2.5, 1.5, 4.5, 3.5]);
    table.fill(9).unwrap();
    assert_eq!(table.records::<Labelled>().unwrap()[1], labelled("b", 9.0, 9.0));
    assert_eq!(before.records::<Labelled>().unwrap()[1], labelled("b", 3.5, 4.5));
    assert_error!(table.resize(3), ErrorKind::ReadOnlyTable); // what would their names be?
    table.records_mut::<Labelled>().unwrap()[0].name = "c";
    table.resize(1).unwrap();
    assert_eq!(table.into_records::<Labelled>().unwrap(), [labelled("c", 9.0, 9.0)]);
    // Nobody makes one of bytes.
    let bytes = AosNumericTable::zeros(&RecordLayout::of::<Labelled>(), 1).unwrap();
    assert_error!(bytes.records::<Labelled>(), ErrorKind::RecordLayout { .. }, "not of type");
}

#[test]
fn neighbours_of_one_type_are_one_piece() {
    #[derive(Clone, Copy)]
    #[repr(C)]
    struct Sixteen {
        values: [f32; 16],
    }
    impl_record!(Sixteen { values });
    let table = AosNumericTable::from_records(vec![Sixteen { values: std::array::from_fn(|i| i as f32) }; 3]).unwrap();
    assert_eq!(table.piece(2, 9).unwrap().unwrap().region().columns, 0..16);
    assert!(table.rows::<f32>(1..).unwrap().is_zero_copy());
    assert_eq!(table.uniform_type(), Some(ElementType::F32));
    let columns = |fields: &[(ElementType, usize)]| {
        let mut table = AosNumericTable::zeros(&layout_of(64, fields), 2).unwrap();
        let pieces = table.pieces_mut().unwrap();
        pieces.iter().map(|piece| piece.region().columns.clone()).collect::<Vec<_>>()
    };
    let (f, d) = (ElementType::F32, ElementType::F64);
    assert_eq!(columns(&[(f, 0), (f, 4), (f, 8), (f, 16), (f, 24)]), [0..3, 3..5]);
    assert_eq!(columns(&[(f, 8), (f, 4), (f, 0)]), [0..1, 1..2, 2..3]); // from right to left
    assert_eq!(columns(&[(f, 0), (d, 8), (f, 16), (f, 20)]), [0..1, 1..2, 2..4]);
    assert_eq!(columns(&[(f, 0), (f, 32), (d, 8)]), [0..2, 2..3]);
    assert!(columns(&[]).is_empty());
    // Far apart in the record: read and written as one.
    let layout = layout_of(64, &[(f, 0), (f, 20), (f, 40)]);
    let mut table = AosNumericTable::zeros(&layout, 3).unwrap();
    table
        .update_rows::<i16, _>(1.., |block| {
            block.copy_from_slice(&[1, 2, 3, 4, 5, 6]);
            Ok(())
        })
        .unwrap();
    assert_eq!(table.rows::<f64>(..).unwrap()[..], [0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
}

#[test]
fn every_element_type_is_a_field() {
    #[derive(Clone, Copy, Default)]
    struct All {
        a: f16,
        b: f64,
        c: i8,
        d: bf16,
        e: u64,
        f: f32,
        g: u8,
        h: i64,
        i: i16,
        j: u32,
        k: u16,
        l: i32,
    }
    impl_record!(All { a, b, c, d, e, f, g, h, i, j, k, l });
    let mut all = [All::default(); 3];
    let mut table = records_mut(&mut all);
    table
        .update_rows::<u8, _>(.., |block| {
            block.iter_mut().enumerate().for_each(|(index, value)| *value = index as u8);
            Ok(())
        })
        .unwrap();
    let expected = (0..36).collect::<Vec<u8>>();
    assert_eq!(table.rows::<u8>(..).unwrap()[..], expected);
    assert_eq!(
        table.dictionary().iter().map(|f| f.element_type.name()).collect::<String>(),
        "f16f64i8bf16u64f32u8i64i16u32u16i32"
    );
    drop(table);
    let last = all[2];
    assert_eq!((last.a, last.d, last.h, last.l), (f16::from_f32(24.0), bf16::from_f32(27.0), 31, 35));
}

#[test]
fn a_borrowed_slice_is_a_table_for_as_long_as_the_borrow() {
    let mut mine = points();
    {
        let mut table = records(&mine);
        assert_eq!((table.shape(), table.kind()), (shape(5, 4), TableKind::CUSTOM));
        assert_error!(table.set_value(0, 0, 1.0), ErrorKind::ReadOnlyTable);
        assert_error!(table.resize(1), ErrorKind::ReadOnlyTable);
        assert!(table.as_any().is_none());
    }
    let mut table = records_mut(&mut mine[1..3]);
    table.column_mut::<f32>(1, ..).unwrap().fill(0.25);
    assert_error!(table.resize(1), ErrorKind::ReadOnlyTable);
    drop(table);
    assert_eq!(mine.iter().map(|point| point.y).collect::<Vec<_>>(), [-1.3, 0.25, 0.25, -7.3, -9.3]);
    let none: [Point; 0] = [];
    let empty = records(&none);
    assert_eq!((empty.shape(), empty.rows::<f64>(..).unwrap().len()), (shape(0, 4), 0));
    let mut none: Vec<Point> = Vec::new();
    records_mut(&mut none).fill(3).unwrap();
    assert!(AosNumericTable::from_records(none).unwrap().into_records::<Point>().unwrap().is_empty());
}

#[test]
fn many_records_are_read_and_written_whole() {
    const ROWS: usize = sized(300_000, 300);
    let whole = |row: usize| (row % 251) as u8;
    let record = |row: usize| Point { x: f32::from(whole(row)), y: 1.0, categ: whole(row).into(), value: -1.0 };
    let mut table = AosNumericTable::from_records((0..ROWS).map(record).collect::<Vec<_>>()).unwrap();
    let rows = table.rows::<f64>(..).unwrap().to_vec();
    let is_right = |row: usize, values: &[f64]| *values == [f64::from(whole(row)), 1.0, f64::from(whole(row)), -1.0];
    assert!(rows.chunks(4).enumerate().all(|(row, values)| is_right(row, values)));
    table
        .update_rows::<f64, _>(.., |block| {
            block.iter_mut().for_each(|value| *value = 250.0 - *value);
            Ok(())
        })
        .unwrap();
    let expected = |row: usize| (250.0 - f32::from(whole(row)), 249.0, 250 - i32::from(whole(row)), 251.0);
    let found = |point: &Point| (point.x, point.y, point.categ, point.value);
    assert!(table.records::<Point>().unwrap().iter().enumerate().all(|(row, point)| found(point) == expected(row)));
    let packed = layout_of(13, &[(ElementType::U8, 0), (ElementType::F64, 1), (ElementType::F32, 9)]);
    let bytes = (0..ROWS).flat_map(|row| {
        let (float, value) = (f32::from(whole(row)).to_ne_bytes(), f64::from(whole(row)).to_ne_bytes());
        [&[whole(row)][..], &value, &float].concat()
    });
    let table = AosNumericTable::from_record_bytes(bytes.collect::<Vec<u8>>(), &packed).unwrap();
    let rows = table.rows::<u8>(..).unwrap();
    assert!(rows.chunks(3).enumerate().all(|(row, values)| *values == [whole(row); 3]));
}

/// Bands of rows end where the last one has one row, in which one value is as good a column as a row.
#[test]
fn records_of_any_number_are_read_and_written() {
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[repr(C)]
    struct Particle {
        place: [f32; 3],
        id: u32,
        weight: f32,
    }
    impl_record!(Particle { place, weight, .. });
    for count in [1, 31, 33, 127, 129, 255, 256, 257, 511, 513, 1023, 1025, 2049] {
        let record = |row: usize| Particle { place: [row as f32, 0.5, -1.0], id: 7, weight: row as f32 / 4.0 };
        let mut table = AosNumericTable::from_records((0..count).map(record).collect::<Vec<_>>()).unwrap();
        let rows = table.rows::<f64>(..).unwrap();
        for (row, values) in rows.iter_rows().enumerate() {
            assert_eq!(values, [row as f64, 0.5, -1.0, row as f64 / 4.0]);
        }
        drop(rows);
        table
            .update_rows::<f64, _>(.., |block| {
                block.iter_mut().for_each(|value| *value += 1.0);
                Ok(())
            })
            .unwrap();
        let last = table.records::<Particle>().unwrap()[count - 1];
        let weight = (count - 1) as f32 / 4.0 + 1.0;
        assert_eq!(last, Particle { place: [count as f32, 1.5, 0.0], id: 7, weight });
        let read = table.rows::<f32>(..).unwrap();
        assert_eq!(read.row(count - 1), [count as f32, 1.5, 0.0, weight]);
    }
}

#[test]
fn the_first_refused_value_of_many_records_is_named() {
    const ROWS: usize = 5000; // several bands
    for (row, column) in [(0, 3), (700, 0), (4999, 2)] {
        let mut records = vec![Point { x: 1.0, y: 2.0, categ: 3, value: 4.0 }; ROWS];
        match column {
            0 => records[row].x = -1.0,
            2 => records[row].categ = 1 << 20,
            _ => records[row].value = f64::NAN,
        }
        records[ROWS - 1].y = 300.0; // column 1 of the last row
        let table = AosNumericTable::from_records(records).unwrap();
        let mut block = BlockDescriptor::<u8>::with_policy(ConversionPolicy::Checked);
        let found = table.read_rows(.., &mut block).unwrap_err();
        let expected = if row == ROWS - 1 { (row, 1) } else { (row, column) };
        assert!(
            matches!(found.kind(), ErrorKind::ValueNotRepresentable { row, column, .. } if (*row, *column) == expected)
        );
    }
}
