//! svmlight and MatrixMarket texts: whoever reads one, in whatever steps, gets the same table or the same error; what
//! is read can be written, and is read back.
//!
//! The first three bytes choose format, element type and options, the rest is the text: see [`Choice`].

#![no_main]

use std::io::Read;

use libfuzzer_sys::fuzz_target;
use numeric_table::{
    ConversionPolicy, CsrNumericTable, Element, ElementType, Error, ErrorKind, NumericTable, TableDescription,
    sparse::{LabeledRows, MatrixMarketOptions, SvmlightIndices, SvmlightOptions},
};
use numeric_table_fuzz::with_element;

fuzz_target!(|data: &[u8]| {
    let Some((choice, text)) = data.split_first_chunk() else { return };
    let choice = Choice(*choice);
    with_element!(choice.element_type(), T => match choice.is_svmlight() {
        true => check_svmlight::<T>(&choice, text),
        false => check_matrix_market::<T>(&choice, text),
    });
});

/// What the first bytes of an input choose.
struct Choice([u8; 3]);

/// One of several, by a number.
fn pick<T: Copy>(all: &[T], number: u8) -> T {
    all[usize::from(number) % all.len()]
}

impl Choice {
    fn is_svmlight(&self) -> bool {
        self.0[0].is_multiple_of(2)
    }

    fn element_type(&self) -> ElementType {
        pick(ElementType::ALL, self.0[1])
    }

    fn policy(&self) -> ConversionPolicy {
        pick(&[ConversionPolicy::Exact, ConversionPolicy::Checked, ConversionPolicy::Saturate], self.0[2])
    }

    /// Bytes of a step of reading.
    fn step(&self) -> usize {
        usize::from(self.0[0] / 2 % 16) + 1
    }

    fn svmlight(&self) -> SvmlightOptions {
        let number = self.0[2] / 3;
        let indices = [SvmlightIndices::FromOne, SvmlightIndices::FromZero, SvmlightIndices::Automatic];
        let options = SvmlightOptions::new()
            .policy(self.policy())
            .indices(pick(&indices, number))
            .multilabel(number / 3 % 2 == 1)
            .sort(number / 6 % 2 == 1);
        if number / 12 % 2 == 1 { options.column_count(usize::from(number / 24)) } else { options }
    }

    fn matrix_market(&self) -> MatrixMarketOptions {
        MatrixMarketOptions::new().policy(self.policy()).max_rows(1 << 16)
    }
}

/// A reader that returns a few bytes at a time.
struct Steps<'a>(&'a [u8], usize);

impl Read for Steps<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.1.min(buffer.len());
        self.0.read(&mut buffer[..count])
    }
}

/// Shape, offsets, indices and bits of all values, where a NaN is a NaN.
type Parts = ((usize, usize), Vec<usize>, Vec<usize>, Vec<Vec<u8>>);

fn parts<T: Element>(table: &CsrNumericTable) -> Parts {
    let shape = table.shape();
    let bits = |value: &T| match value.partial_cmp(value) {
        None => b"NaN".to_vec(),
        Some(_) => bytemuck::bytes_of(value).to_vec(),
    };
    let values = table.values_slice::<T>().unwrap().iter().map(bits).collect();
    ((shape.rows, shape.columns), table.offsets().iter().collect(), table.indices().iter().collect(), values)
}

/// What an error says. Only the text can be wrong.
fn told(error: Error) -> String {
    assert!(matches!(error.kind(), ErrorKind::Text { .. } | ErrorKind::ValueNotRepresentable { .. }), "{error:?}");
    error.to_string()
}

fn check_svmlight<T: Element>(choice: &Choice, text: &[u8]) {
    let whole = LabeledRows::read_with::<T>(text, choice.svmlight()).map_err(told);
    let steps = LabeledRows::read_with::<T>(Steps(text, choice.step()), choice.svmlight()).map_err(told);
    let data = match (whole, steps) {
        (Ok(data), Ok(same)) => {
            assert_eq!(parts::<T>(&data.features), parts::<T>(&same.features));
            assert_eq!(data.queries.as_deref(), same.queries.as_deref());
            data
        }
        (Err(one), Err(other)) => return assert_eq!(one, other),
        (one, other) => panic!("{one:?} and {other:?}"),
    };
    let rows = data.features.row_count();
    assert_eq!(data.labels.row_count(), rows);
    let mut again = Vec::new();
    match data.write(&mut again).map_err(Error::into_kind) {
        // It had a comment or a colon, and has nothing now.
        Err(ErrorKind::Unsupported { row: Some(row), .. }) => return assert!(data.labels.row(row).is_empty()),
        written => written.unwrap(),
    }
    let options = SvmlightOptions::new()
        .column_count(data.features.column_count())
        .multilabel(data.labels.array().is_none())
        .policy(ConversionPolicy::Exact);
    let back = LabeledRows::read_with::<T>(&again[..], options).unwrap();
    assert_eq!(parts::<T>(&back.features), parts::<T>(&data.features));
    assert_eq!(back.queries.as_deref(), data.queries.as_deref());
    for row in 0..rows {
        let [back, data] = [&back, &data].map(|data| data.labels.row(row));
        let same = |(one, other): (&f64, &f64)| one.to_bits() == other.to_bits() || (one.is_nan() && other.is_nan());
        assert!(back.len() == data.len() && back.iter().zip(data).all(same));
    }
}

fn check_matrix_market<T: Element>(choice: &Choice, text: &[u8]) {
    let whole = CsrNumericTable::read_mtx_with::<T>(text, choice.matrix_market()).map_err(told);
    let steps = CsrNumericTable::read_mtx_with::<T>(Steps(text, choice.step()), choice.matrix_market()).map_err(told);
    let table = match (whole, steps) {
        (Ok(table), Ok(same)) => {
            assert_eq!(parts::<T>(&table), parts::<T>(&same));
            table
        }
        (Err(one), Err(other)) => return assert_eq!(one, other),
        (one, other) => panic!("{one:?} and {other:?}"),
    };
    let mut again = Vec::new();
    table.write_mtx(&mut again).unwrap();
    let options = MatrixMarketOptions::new().max_rows(usize::MAX);
    let back = CsrNumericTable::read_mtx_with::<T>(&again[..], options).unwrap();
    assert_eq!(parts::<T>(&back), parts::<T>(&table));
}
