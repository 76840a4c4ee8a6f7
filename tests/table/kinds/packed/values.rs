//! Every packing, dimension, element type and region, against the formulas of DAAL and LAPACK; and sizes that no matrix
//! has.

use super::*;
use test_support::tables::huge;

/// Every dimension around the sizes of tiles and runs, every packing, every part, against the formulas.
#[test]
fn every_dimension_is_read_repacked_and_copied_from_a_full_table() {
    for n in (0..=10).chain([31, 32, 33, 63, 64, 65, 100, 161, 290]) {
        let values = (0..n * (n + 1) / 2).map(|number| number as i32 + 1).collect::<Vec<_>>();
        for (triangle, order) in TRIANGLES.into_iter().flat_map(|triangle| ORDERS.map(|order| (triangle, order))) {
            for half in [Half::Mirrored, Half::Zero(triangle)] {
                let expected = full(&values, n, triangle, order, half);
                let matrix: Boxed = match half {
                    Half::Mirrored => Box::new(symmetric(values.clone(), triangle, order)),
                    Half::Zero(_) => Box::new(triangular(values.clone(), triangle, order)),
                };
                assert_eq!(matrix.shape(), shape(n, n));
                assert_eq!(matrix.rows::<i32>(..).unwrap()[..], expected, "{n} {triangle:?} {order:?}");
                let middle = n / 3..n - n / 4;
                let part = expected[middle.start * n..middle.end * n].iter().map(|&value| f64::from(value));
                assert!(matrix.rows::<f64>(middle).unwrap().iter().copied().eq(part));
                for column in [0, n / 2, n.saturating_sub(1)].into_iter().filter(|&column| column < n) {
                    let cells = (0..n).map(|row| i64::from(expected[row * n + column]));
                    assert!(matrix.column::<i64>(column, ..).unwrap().iter().copied().eq(cells));
                }
                let table = HomogenNumericTable::from_array(expected.clone(), shape(n, n)).unwrap();
                for (to, as_order) in TRIANGLES.into_iter().flat_map(|to| ORDERS.map(|order| (to, order))) {
                    match half {
                        Half::Mirrored => {
                            let matrix = symmetric(values.clone(), triangle, order);
                            let other = matrix.to_triangle(to).unwrap().to_order(as_order).unwrap();
                            assert_eq!((other.triangle(), other.order()), (to, as_order));
                            assert_eq!(other.rows::<i32>(..).unwrap()[..], expected);
                            let copy = PackedSymmetricMatrix::from_full(&table, to, as_order).unwrap();
                            assert_eq!(copy.packed::<i32>().unwrap(), other.packed::<i32>().unwrap());
                        }
                        Half::Zero(_) if to == triangle => {
                            let other = triangular(values.clone(), triangle, order).to_order(as_order).unwrap();
                            assert_eq!((other.triangle(), other.order()), (to, as_order));
                            assert_eq!(other.rows::<i32>(..).unwrap()[..], expected);
                            let copy = PackedTriangularMatrix::from_full(&table, to, as_order).unwrap();
                            assert_eq!(copy.packed::<i32>().unwrap(), other.packed::<i32>().unwrap());
                        }
                        Half::Zero(_) => {
                            let refused = PackedTriangularMatrix::from_full(&table, to, as_order);
                            assert_eq!(refused.is_err(), n > 1);
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn every_element_type_is_packed_in_every_way() {
    fn check<T: SmallNumber>() {
        for (triangle, order) in TRIANGLES.into_iter().flat_map(|triangle| ORDERS.map(|order| (triangle, order))) {
            let mut matrix = PackedSymmetricMatrix::zeros(10, T::TYPE, triangle, order).unwrap();
            assert_eq!((matrix.uniform_type(), matrix.column_type(9).unwrap()), (Some(T::TYPE), T::TYPE));
            matrix.packed_mut::<T>().unwrap().copy_from_slice(&counted::<T>(10));
            let expected = full(&counted::<T>(10), 10, triangle, order, Half::Mirrored);
            assert_eq!(matrix.rows::<T>(..).unwrap()[..], expected);
            assert_eq!(matrix.get(9, 0).unwrap(), matrix.get(0, 9).unwrap());
            assert_eq!(matrix.get(0, 0).unwrap(), T::small(1).into());
            let mut matrix = PackedTriangularMatrix::zeros(10, T::TYPE, triangle, order).unwrap();
            matrix.packed_mut::<T>().unwrap().copy_from_slice(&counted::<T>(10));
            let expected = full(&counted::<T>(10), 10, triangle, order, Half::Zero(triangle));
            assert_eq!(matrix.rows::<T>(..).unwrap()[..], expected);
            let zero = if triangle == Triangle::Upper { (9, 0) } else { (0, 9) };
            assert_eq!(matrix.get(zero.0, zero.1).unwrap(), T::default().into());
            assert_eq!(matrix.into_packed().downcast::<T>().unwrap()[..], counted::<T>(10));
        }
    }
    for_each_element!(T => check::<T>());
}

/// Lines of every width of elements, longer than the cache lines of a row.
#[test]
fn elements_of_every_width_are_mirrored() {
    fn check<T: Element>(make: impl Fn(i32) -> T) {
        for n in [129, 161] {
            let values = (0..n * (n + 1) / 2).map(|number| number as i32 + 1).collect::<Vec<_>>();
            for (triangle, order) in TRIANGLES.into_iter().flat_map(|triangle| ORDERS.map(|order| (triangle, order))) {
                let expected = full(&values, n, triangle, order, Half::Mirrored);
                let expected = expected.into_iter().map(&make).collect::<Vec<T>>();
                let packed = values.iter().map(|&value| make(value)).collect::<Vec<T>>();
                let matrix = PackedSymmetricMatrix::from_packed(packed, triangle, order).unwrap();
                for rows in [0..n, 1..n - 1, 7..n / 2] {
                    let cells = &expected[rows.start * n..rows.end * n];
                    assert!(matrix.rows::<T>(rows.clone()).unwrap()[..] == *cells, "{triangle:?} {order:?} {rows:?}");
                }
            }
        }
    }
    check(|value| value as u8);
    check(|value| value as u16);
    check(|value| value as f32);
    check(f64::from);
}

#[test]
fn the_first_cell_that_a_matrix_cannot_show_is_named() {
    const N: usize = 100;
    let make = |cells: &[(usize, usize)]| {
        let mut table = HomogenNumericTable::<f32>::zeros(shape(N, N)).unwrap();
        cells.iter().for_each(|&(row, column)| table.set_value(row, column, 1.5).unwrap());
        table
    };
    for (cells, first) in [
        (&[(70, 3), (3, 90), (2, 99)][..], (2, 99)),
        (&[(70, 3), (3, 90)], (3, 70)),
        (&[(3, 71), (3, 70), (99, 98)], (3, 70)),
        (&[(99, 98)], (98, 99)),
    ] {
        for (triangle, order) in TRIANGLES.into_iter().flat_map(|triangle| ORDERS.map(|order| (triangle, order))) {
            let refused = PackedSymmetricMatrix::from_full(&make(cells), triangle, order);
            assert_error!(
                refused,
                ErrorKind::AsymmetricValue { row, column, mirror, .. }
                    if (*row, *column) == first && *mirror == (*column, *row)
            );
        }
    }
    let refused =
        PackedTriangularMatrix::from_full(&make(&[(3, 90), (90, 3), (70, 69)]), Triangle::Upper, DataLayout::RowMajor);
    assert_error!(
        refused,
        ErrorKind::NotStored { row: 70, column: 69, value: Some(value), .. } if *value == 1.5_f32.into()
    );
    let refused =
        PackedTriangularMatrix::from_full(&make(&[(3, 90), (3, 40)]), Triangle::Lower, DataLayout::ColumnMajor);
    assert_error!(refused, ErrorKind::NotStored { row: 3, column: 40, value: Some(_), .. });
    let oblong = HomogenNumericTable::from_rows(&[[1, 2, 3], [4, 5, 6]]).unwrap();
    let refused = PackedSymmetricMatrix::from_full(&oblong, Triangle::Upper, DataLayout::RowMajor);
    assert_error!(refused, ErrorKind::ShapeMismatch { actual: Shape { rows: 2, columns: 3 }, .. });
    let mixed = SoaNumericTable::from_columns([("a", AnyArray::from(vec![1_u8, 2])), ("b", vec![1.5_f32, 2.5].into())]);
    let refused = PackedSymmetricMatrix::from_full(&mixed.unwrap(), Triangle::Upper, DataLayout::RowMajor);
    assert_error!(refused, ErrorKind::MixedElementTypes { column: 1, .. });
    // A signed zero is another value, and two NaNs with the same bits are the same.
    let table = HomogenNumericTable::from_rows(&[[1.0, 0.0], [-0.0, 2.0]]).unwrap();
    let refused = PackedSymmetricMatrix::from_full(&table, Triangle::Upper, DataLayout::RowMajor);
    assert_error!(refused, ErrorKind::AsymmetricValue { row: 0, column: 1, .. });
    let table = HomogenNumericTable::from_rows(&[[1.0, f64::NAN], [f64::NAN, 2.0]]).unwrap();
    assert!(PackedSymmetricMatrix::from_full(&table, Triangle::Upper, DataLayout::RowMajor).is_ok());
}

#[test]
fn only_lengths_of_triangles_are_accepted() {
    let lengths = (0..60).map(|n| n * (n + 1) / 2).collect::<Vec<usize>>();
    for length in 0..1000 {
        let given = Array::from(vec![7_u8; length]);
        let made = PackedSymmetricMatrix::from_packed(given.clone(), Triangle::Upper, DataLayout::RowMajor);
        match lengths.binary_search(&length) {
            Ok(n) => assert_eq!(made.unwrap().dimension(), n),
            Err(next) => {
                let Rejected { value: back, error } = made.unwrap_err();
                assert!(back.downcast::<u8>().unwrap().shares_memory_with(&given));
                let (below, above) = (lengths[next - 1], lengths[next]);
                let expected = format!(
                    "the number of values of a packed triangle is {length}: dimension {} has {below}, and dimension \
                     {next} has {above}",
                    next - 1
                );
                assert!(matches!(error.kind(), ErrorKind::ParameterOutOfRange { .. }) && error.to_string() == expected);
            }
        }
    }
}

#[test]
#[cfg_attr(target_pointer_width = "32", ignore = "its numbers need 64 bits")]
fn dimensions_too_large_for_memory_are_errors() {
    for (n, element) in [
        (usize::MAX, ElementType::U8),
        (usize::MAX - 1, ElementType::F64),
        (huge(32), ElementType::U8),
        (huge(33), ElementType::F32),
        (isize::MAX as usize, ElementType::F16),
    ] {
        for (triangle, order) in TRIANGLES.into_iter().flat_map(|triangle| ORDERS.map(|order| (triangle, order))) {
            let refused = PackedSymmetricMatrix::zeros(n, element, triangle, order);
            assert_error!(refused, ErrorKind::SizeOverflow { .. });
            assert_error!(PackedTriangularMatrix::zeros(n, element, triangle, order), ErrorKind::SizeOverflow { .. });
        }
    }
    // The system refuses what can be addressed and is larger than any memory.
    let refused = PackedSymmetricMatrix::zeros(1 << 30, ElementType::F32, Triangle::Upper, DataLayout::RowMajor);
    assert_error!(refused, ErrorKind::OutOfMemory);
    let huge = Huge(DataDictionary::uniform(Feature::new(ElementType::F32), 1 << 30));
    assert_error!(
        PackedSymmetricMatrix::from_full(&huge, Triangle::Upper, DataLayout::RowMajor),
        ErrorKind::OutOfMemory
    );
}

/// A square table that is too large for memory, and is never read.
struct Huge(DataDictionary);

impl NumericTable for Huge {
    fn shape(&self) -> Shape {
        shape(self.0.len(), self.0.len())
    }

    fn dictionary(&self) -> &DataDictionary {
        &self.0
    }

    fn id(&self) -> numeric_table::table::spi::TableId {
        numeric_table::table::spi::TableId::new()
    }
}

#[test]
fn a_large_matrix_is_read_by_several_threads_and_written_whole() {
    const N: usize = 1500;
    let number = |i: usize, j: usize| ((i.min(j) * 31 + i.max(j) * 17) % 251) as u8;
    for (triangle, order) in TRIANGLES.into_iter().flat_map(|triangle| ORDERS.map(|order| (triangle, order))) {
        let table = HomogenNumericTable::from_fn(shape(N, N), |i, j| f32::from(number(i, j))).unwrap();
        let mut matrix = PackedSymmetricMatrix::from_full(&table, triangle, order).unwrap();
        let rows = matrix.rows::<f64>(..).unwrap();
        assert!((0..N * N).all(|at| rows[at] == f64::from(number(at / N, at % N))));
        drop(rows);
        // Under a policy that refuses the last value of the first row, and that of the last.
        matrix.set(0, N - 1, 300).unwrap();
        let mut old = vec![7_u8; N * N];
        let region = Region { rows: 0..N, columns: 0..N };
        let target = Target::new(AnySliceMut::new(&mut old), region.shape(), ConversionPolicy::Checked).unwrap();
        let refused = matrix.read_region(&region, target);
        assert_error!(refused, ErrorKind::ValueNotRepresentable { row: 0, column, .. } if *column == N - 1);
        assert!(old.iter().all(|&value| value == 7));
        matrix
            .update_rows::<f64, _>(.., |block| {
                block.iter_mut().for_each(|value| *value += 1.0);
                Ok(())
            })
            .unwrap();
        assert_eq!(matrix.value::<f64>(N - 1, 0).unwrap(), 301.0);
        matrix.set(0, N - 1, f32::from(number(0, N - 1)) + 1.0).unwrap();
        let rows = matrix.rows::<f32>(..).unwrap();
        assert!((0..N * N).all(|at| rows[at] == f32::from(number(at / N, at % N)) + 1.0));
    }
}

/// Columns of many rows are read by one call. If that refuses a value, smaller parts are read to find it.
#[test]
fn the_first_value_that_a_policy_refuses_is_named_wherever_it_is() {
    const N: usize = 330;
    fn checked(values: &mut [u8], shape: Shape) -> Target<'_> {
        Target::new(AnySliceMut::new(values), shape, ConversionPolicy::Checked).unwrap()
    }
    for (triangle, order) in TRIANGLES.into_iter().flat_map(|triangle| ORDERS.map(|order| (triangle, order))) {
        for cells in [
            &[(5, 300), (1, 301)][..],
            &[(127, 329)],
            &[(0, 128), (1, 128)],
            &[(128, 128)],
            &[(127, 0)],
            // Columns of many rows come first, and a part of fewer rows has the first of these cells.
            &[(3, 300), (2, 70)],
            &[(300, 10), (299, 270)],
            &[(100, 300), (5, 310)],
        ] {
            let mut matrix = symmetric(vec![7.0_f32; N * (N + 1) / 2], triangle, order);
            cells.iter().for_each(|&(row, column)| matrix.set(row, column, 256.0).unwrap());
            let both = cells.iter().flat_map(|&(row, column)| [(row, column), (column, row)]);
            for region in [Region::whole(shape(N, N)), Region { rows: 0..200, columns: 100..N }] {
                let inside =
                    both.clone().filter(|(row, column)| region.rows.contains(row) && region.columns.contains(column));
                let first = inside.min();
                let mut values = vec![9_u8; region.rows.len() * region.columns.len()];
                let kept = matrix.read_region(&region, checked(&mut values, region.shape()));
                assert!(first.is_none() || values.iter().all(|&value| value == 9));
                let target = checked(&mut values, region.shape()).allow_partial_write();
                let lost = matrix.read_region(&region, target);
                for outcome in [kept, lost] {
                    match (outcome, first) {
                        (Ok(()), None) => {}
                        (Err(error), Some(first)) => assert!(
                            matches!(error.kind(), ErrorKind::ValueNotRepresentable { row, column, .. }
                                if (*row, *column) == first),
                            "{error} instead of {first:?}, {triangle:?} {order:?}"
                        ),
                        other => panic!("{other:?}"),
                    }
                }
            }
        }
    }
}

proptest! {
    /// Against a full matrix: any region of any dimension is read as it is there, and written into it.
    #[test]
    fn any_region_is_read_and_written_as_in_a_full_matrix(
        n in prop_oneof![1_usize..90, 90_usize..200],
        edges in (0.0..1.0_f64, 0.0..1.0_f64, 0.0..1.0_f64, 0.0..1.0_f64),
        packing in (0_usize..2, 0_usize..2, any::<bool>()),
        seed in any::<u32>(),
    ) {
        let (triangle, order) = (TRIANGLES[packing.0], ORDERS[packing.1]);
        let half = if packing.2 { Half::Mirrored } else { Half::Zero(triangle) };
        let range = |a: f64, b: f64| {
            let at = |edge: f64| (edge * (n + 1) as f64) as usize;
            at(a.min(b))..at(a.max(b))
        };
        let region = Region { rows: range(edges.0, edges.1), columns: range(edges.2, edges.3) };
        let values = (0..n * (n + 1) / 2).map(|index| ((index as u32).wrapping_mul(seed | 1) >> 20) as i16);
        let values = values.collect::<Vec<i16>>();
        let mut model = full(&values, n, triangle, order, half);
        let mut matrix: Boxed = match half {
            Half::Mirrored => Box::new(symmetric(values, triangle, order)),
            Half::Zero(_) => Box::new(triangular(values, triangle, order)),
        };
        let cells = region.rows.clone().flat_map(|row| region.columns.clone().map(move |column| (row, column)));
        let cells = cells.collect::<Vec<_>>();
        let mut read = vec![0_i32; cells.len()];
        let target = Target::new(AnySliceMut::new(&mut read), region.shape(), ConversionPolicy::Exact).unwrap();
        matrix.read_region(&region, target).unwrap();
        let expected = cells.iter().map(|&(row, column)| i32::from(model[row * n + column])).collect::<Vec<_>>();
        prop_assert_eq!(&read, &expected);

        let is_zero = |row, column| !packing.2 && index(n, triangle, order, row, column).is_none();
        let new = cells.iter().map(|&(row, column)| {
            let key = if packing.2 { row.min(column) * n + row.max(column) } else { row * n + column };
            if is_zero(row, column) { 0.0 } else { ((key as u32).wrapping_mul(seed | 3) >> 20) as f32 }
        });
        let new = new.collect::<Vec<f32>>();
        let rule = WriteRule { policy: ConversionPolicy::Checked, keep_unchanged: seed % 2 == 0 };
        matrix.write_region(&region, AnySlice::new(&new), rule).unwrap();
        for (&(row, column), &value) in cells.iter().zip(&new) {
            model[row * n + column] = value as i16;
            if packing.2 {
                model[column * n + row] = value as i16;
            }
        }
        prop_assert_eq!(&matrix.rows::<i16>(..).unwrap()[..], &model[..]);

        // A cell that would be two values is refused, and named.
        let other = |&(row, column): &(usize, usize)| {
            is_zero(row, column) || (packing.2 && row != column && cells.contains(&(column, row)))
        };
        if let Some(bad) = cells.iter().rposition(other) {
            let (mut new, (row, column)) = (new, cells[bad]);
            new[bad] += 1.0;
            match matrix.write_region(&region, AnySlice::new(&new), rule).map_err(Error::into_kind) {
                Err(ErrorKind::AsymmetricValue { row: upper, column: right, .. }) => {
                    prop_assert_eq!((upper, right), (row.min(column), row.max(column)));
                }
                Err(ErrorKind::NotStored { row: there, column: at, value: Some(_), .. }) => {
                    prop_assert_eq!((there, at), (row, column));
                }
                other => panic!("{other:?}"),
            }
            prop_assert_eq!(&matrix.rows::<i16>(..).unwrap()[..], &model[..]);
        }
    }
}

/// NaNs with all their bits, zeros of both signs, infinities and limits, in every pair of types: regions with edges
/// inside and at the ends of tiles, against the full table.
#[test]
fn every_value_is_read_as_from_the_full_table() {
    fn check<T: Element, U: Element>(random: &mut Random) {
        const N: usize = 90;
        let pool = special_values::<T>();
        let values = (0..N * (N + 1) / 2).map(|_| pool[random.below(pool.len())]).collect::<Vec<T>>();
        for (triangle, order) in TRIANGLES.into_iter().flat_map(|triangle| ORDERS.map(|order| (triangle, order))) {
            for half in [Half::Mirrored, Half::Zero(triangle)] {
                let full = full(&values, N, triangle, order, half);
                let full = HomogenNumericTable::from_array(full, shape(N, N)).unwrap();
                let matrix: Boxed = match half {
                    Half::Mirrored => Box::new(symmetric(values.clone(), triangle, order)),
                    Half::Zero(_) => Box::new(triangular(values.clone(), triangle, order)),
                };
                for (rows, columns) in [(0..N, 0..N), (3..12, 1..N), (70..N, 0..30), (0..9, 60..N), (5..80, 30..38)] {
                    let region = Region { rows, columns };
                    let read = |table: &dyn NumericTable, policy| {
                        let mut read = vec![U::default(); region.shape().element_count().unwrap()];
                        let target = Target::new(AnySliceMut::new(&mut read), region.shape(), policy).unwrap();
                        let outcome = table.read_region(&region, target.allow_partial_write());
                        let values = outcome.is_ok().then(|| read.into_iter().map(bits).collect::<Vec<u64>>());
                        (outcome.map_err(|error| error.to_string()), values)
                    };
                    for policy in [ConversionPolicy::Saturate, ConversionPolicy::Checked] {
                        let (mine, theirs) = (read(&*matrix, policy), read(&full, policy));
                        assert!(
                            mine == theirs,
                            "{region:?} {triangle:?} {order:?} {policy}: {:?} {:?}",
                            mine.0,
                            theirs.0
                        );
                    }
                }
            }
        }
    }
    let mut random = Random::new(31);
    for_each_element!(T => for_each_element!(U => check::<T, U>(&mut random)));
}

/// Rows of a large matrix, whose mirrored half is read column by column, against a full table: values of all types, and
/// the first refused value.
#[test]
fn rows_of_a_large_matrix_are_those_of_the_full_table() {
    fn check<T: SmallNumber, U: Element>(triangle: Triangle, order: DataLayout) {
        const N: usize = 330;
        let mut matrix = PackedSymmetricMatrix::zeros(N, T::TYPE, triangle, order).unwrap();
        for (number, value) in matrix.packed_mut::<T>().unwrap().iter_mut().enumerate() {
            *value = T::small((number % 101) as u8);
        }
        let full = full(matrix.packed::<T>().unwrap(), N, triangle, order, Half::Mirrored);
        let full = HomogenNumericTable::from_array(full, shape(N, N)).unwrap();
        for rows in [0..N, 1..N - 1, 0..1, 3..6, 60..70, 200..N] {
            assert_eq!(matrix.rows::<U>(rows.clone()).unwrap()[..], full.rows::<U>(rows.clone()).unwrap()[..]);
            for policy in [ConversionPolicy::Checked, ConversionPolicy::Exact] {
                let mine = matrix.rows_with::<U>(rows.clone(), policy).map(|block| block.to_vec());
                let theirs = full.rows_with::<U>(rows.clone(), policy).map(|block| block.to_vec());
                assert_eq!(mine.map_err(|error| error.to_string()), theirs.map_err(|error| error.to_string()));
            }
        }
    }
    for (triangle, order) in TRIANGLES.into_iter().flat_map(|triangle| ORDERS.map(|order| (triangle, order))) {
        for_each_element!(T => check::<T, T>(triangle, order));
        for_each_element!(T => check::<T, f64>(triangle, order));
        check::<f64, f32>(triangle, order);
        check::<i64, u8>(triangle, order);
    }
    // One value that the target does not hold, in each half.
    for (triangle, order) in TRIANGLES.into_iter().flat_map(|triangle| ORDERS.map(|order| (triangle, order))) {
        let mut matrix = PackedSymmetricMatrix::zeros(330, ElementType::F32, triangle, order).unwrap();
        for (row, column, first) in [(310, 20, (20, 310)), (320, 5, (5, 320))] {
            matrix.set(row, column, 300.0_f32).unwrap();
            for (rows, first) in [(0..330, first), (15..330, (20, 310))] {
                let refused = matrix.rows_with::<u8>(rows, ConversionPolicy::Checked);
                assert_error!(refused, ErrorKind::ValueNotRepresentable { row, column, .. } if (*row, *column) == first);
            }
        }
    }
}
