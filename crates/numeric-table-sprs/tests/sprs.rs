//! Matrices of `sprs`, with indices of every type.

use numeric_table::{CsrNumericTable, prelude::*, table::Rejected};
use numeric_table_sprs::{SprsIndex, SprsTable};
use sprs::{CsMat, CsMatI, TriMat};
use test_support::tables::{address, assert_error, shape};
use test_support::{SmallNumber, for_each_element};

/// Offsets, indices and values of a table of `T`.
type Parts<T> = (Vec<usize>, Vec<usize>, Vec<T>);

fn parts_of<T: Element>(table: &CsrNumericTable) -> Parts<T> {
    let values = table.values_slice::<T>().unwrap().to_vec();
    (table.offsets().iter().collect(), table.indices().iter().collect(), values)
}

/// All cells, row by row.
fn dense(table: &CsrNumericTable) -> Vec<f64> {
    table.rows::<f64>(..).unwrap().to_vec()
}

/// 1, 0, 2; 0, 0, 0; 0, 3, 0; 4, 5, 6.
fn matrix<N: SmallNumber, I: SprsIndex, P: SprsIndex>() -> CsMatI<N, I, P> {
    let offsets = [0, 2, 2, 3, 6].map(P::from_usize).to_vec();
    let indices = [0, 2, 1, 0, 1, 2].map(I::from_usize).to_vec();
    CsMatI::try_new((4, 3), offsets, indices, (1..=6).map(N::small).collect()).map_err(|(.., error)| error).unwrap()
}

const CELLS: [f64; 12] = [1.0, 0.0, 2.0, 0.0, 0.0, 0.0, 0.0, 3.0, 0.0, 4.0, 5.0, 6.0];

#[test]
fn a_matrix_of_every_type_goes_to_a_table_and_back() {
    for_each_element!(T => {
        let table = CsrNumericTable::from_sprs(matrix::<T, usize, usize>()).unwrap();
        assert_eq!((table.shape(), dense(&table)), (shape(4, 3), CELLS.to_vec()));
        assert_eq!(table.try_into_sprs::<T, usize, usize>().unwrap(), matrix::<T, usize, usize>());
    });
}

#[test]
fn indices_of_every_type_keep_it_or_become_wider() {
    fn check<I: SprsIndex, P: SprsIndex>(indices: ElementType, offsets: ElementType) {
        let table = CsrNumericTable::from_sprs(matrix::<f32, I, P>()).unwrap();
        assert_eq!((table.indices().element_type(), table.offsets().element_type()), (indices, offsets));
        assert_eq!(dense(&table), CELLS);
        assert_eq!(table.clone().try_into_sprs::<f32, I, P>().unwrap(), matrix()); // copied: shared
        assert_eq!(table.try_into_sprs::<f32, I, P>().unwrap(), matrix());
    }
    use ElementType::{I32, I64, U32, U64};
    check::<u64, i64>(U64, I64);
    check::<u32, i32>(U32, I32);
    check::<u16, i16>(U32, I32);
    check::<i16, u16>(I32, U32);
    #[cfg(target_pointer_width = "64")]
    check::<usize, isize>(U64, I64);
}

#[test]
fn no_memory_is_copied_where_none_must_be() {
    fn check<I: SprsIndex, P: SprsIndex>() {
        let matrix = matrix::<f64, I, P>();
        let places = |matrix: &CsMatI<f64, I, P>| {
            let offsets = address(matrix.indptr().raw_storage());
            [offsets, address(matrix.indices()), address(matrix.data())]
        };
        let before = places(&matrix);
        let table = CsrNumericTable::from_sprs(matrix).unwrap();
        assert_eq!(address(table.values_slice::<f64>().unwrap()), before[2]);
        assert_eq!(places(&table.try_into_sprs().unwrap()), before);
    }
    check::<usize, usize>();
    check::<u32, u64>();
    check::<i32, isize>();
    check::<i64, i32>();
}

#[test]
fn what_is_shared_is_copied_and_stays() {
    let table = CsrNumericTable::from_sprs(matrix::<f64, usize, usize>()).unwrap();
    let mut copy = table.clone().try_into_sprs::<f64, usize, usize>().unwrap();
    copy.data_mut()[0] = 9.0;
    assert_eq!(dense(&table), CELLS);
    // The library's own memory, and indices of other types.
    let values = Array::copy_of(&[1.5_f32, 2.5]).unwrap();
    let own = CsrNumericTable::try_new(shape(1, 3), vec![0_i32, 2], vec![0_u32, 2], values).unwrap();
    let matrix = own.try_into_sprs::<f32, u16, isize>().unwrap();
    assert_eq!((matrix.shape(), matrix.indices(), matrix.data()), ((1, 3), &[0_u16, 2][..], &[1.5, 2.5][..]));
}

#[test]
fn compressed_columns_are_transposed() {
    let columns = matrix::<f64, usize, usize>().to_csc();
    assert!(columns.is_csc());
    assert_eq!(dense(&CsrNumericTable::from_sprs(columns).unwrap()), CELLS);
    let turned = matrix::<f64, u16, i32>().transpose_into(); // the same memory, as columns
    let table = CsrNumericTable::from_sprs(turned).unwrap();
    assert_eq!((table.shape(), table.get(2, 3).unwrap()), (shape(3, 4), Some(6.0_f64.into())));
}

#[test]
fn a_slice_is_counted_from_zero() {
    let whole = matrix::<f64, usize, usize>();
    let slice = whole.slice_outer(2..4).to_owned();
    let table = CsrNumericTable::from_sprs(slice).unwrap();
    assert_eq!(parts_of::<f64>(&table), (vec![0, 1, 4], vec![1, 0, 1, 2], vec![3.0, 4.0, 5.0, 6.0]));
}

#[test]
fn matrices_without_rows_columns_or_values_are_tables() {
    for (rows, columns) in [(0, 0), (0, 3), (3, 0), (2, 2)] {
        for matrix in [CsMat::<u8>::zero((rows, columns)), TriMat::new((rows, columns)).to_csc()] {
            let table = CsrNumericTable::from_sprs(matrix).unwrap();
            assert_eq!((table.shape(), table.nnz()), (shape(rows, columns), 0));
            assert_eq!(table.try_into_sprs::<u8, usize, usize>().unwrap().shape(), (rows, columns));
        }
    }
}

#[test]
fn a_table_that_is_refused_is_given_back() {
    let table = CsrNumericTable::from_sprs(matrix::<f64, usize, usize>()).unwrap();
    let Rejected { value, error } = table.try_into_sprs::<f32, usize, usize>().unwrap_err();
    assert!(matches!(
        *error.kind(),
        ErrorKind::ElementTypeMismatch { expected: ElementType::F32, actual: ElementType::F64, .. }
    ));
    assert_eq!(dense(&value), CELLS);

    let none = || Vec::<i32>::new();
    let wide = CsrNumericTable::try_new(shape(1, 70_000), vec![0, 0], none(), Vec::<f64>::new()).unwrap();
    let Rejected { value, error } = wide.try_into_sprs::<f64, u16, u64>().unwrap_err();
    assert_eq!(error.to_string(), "sprs: the index 70000 is not representable as u16");
    assert!(value.try_into_sprs::<f64, u32, u64>().is_ok());
    let long = CsrNumericTable::try_new(shape(32_767, 1), vec![0; 32_768], none(), Vec::<f64>::new()).unwrap();
    let refused = long.try_into_sprs::<f64, u16, i16>().map_err(Rejected::into_error);
    assert_error!(refused, ErrorKind::Unsupported { target: "sprs", .. });
}
