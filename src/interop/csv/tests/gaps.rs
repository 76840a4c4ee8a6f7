//! Missing values are the same wherever a file is cut.

use super::*;
use crate::MissingValues;
use crate::base::element::ElementType;

/// The element types of all columns, which values are present, and the values that are, as bits of `f64`.
type Found = (Vec<ElementType>, Vec<Vec<Option<u64>>>);

fn found(text: &str, options: &CsvOptions, step: usize) -> Result<Found, String> {
    let source = CsvSource::new(memory(text.as_bytes().to_vec()), options.clone(), step).unwrap();
    let described = source.describe().map_err(|error| error.to_string());
    let table = source.load_typed().map_err(|error| error.to_string());
    assert_eq!(described.as_ref().err(), table.as_ref().err(), "{text:?} cut after {step} bytes");
    let table = table?;
    let columns = 0..table.dictionary().len();
    let types = columns.clone().map(|column| table.dictionary().feature(column).unwrap().element_type).collect();
    let values = columns.map(|column| {
        let values = table.column::<f64>(column, ..).unwrap().to_vec();
        let value = |(row, value): (usize, f64)| (!table.is_missing(row, column).unwrap()).then_some(value.to_bits());
        values.into_iter().enumerate().map(value).collect()
    });
    Ok((types, values.collect()))
}

#[test]
fn gaps_are_the_same_wherever_the_file_is_cut() {
    let late = format!("a,w,s\n{}0.5,x,1\n,,\n18,\"NA\",2\n", ",y,NA\n".repeat(SAMPLE + 20));
    let texts = [
        "a,w,s\n9007199254740993,x,1\n,y,2\nNA,,\n-7,NA,3\n,\"\",NA\n5,x,4\n",
        "a\n1\n \nNA\n\n\"\"\n2\n",
        "a,w,s\n,,\n,,\n,,\n",
        "a,w,s\n1,x,1\n2,y\n,z,2\n",
        &late,
    ];
    for text in texts {
        for options in [
            CsvOptions::new(),
            CsvOptions::new().missing_in(.., CsvMissing::Keep).missing_in(0, CsvMissing::SkipRow),
            CsvOptions::new().kind(.., CsvColumnKind::Categorical),
            CsvOptions::new().column_type(0, ElementType::F32),
            CsvOptions::new().missing_texts_in(0, ["5", "1"]).missing_numbers_in(0, [-7.0]),
        ] {
            let whole = found(text, &options, 1 << 20);
            for step in (1..text.len().min(40)).chain([100, 300]) {
                assert_eq!(found(text, &options, step), whole, "{text:?} cut after {step} bytes");
            }
        }
    }
}

#[test]
fn markers_of_one_column_are_values_in_the_others() {
    let text = "a,b,w\n-9,-9,-\n1,-9.0,x\n2,2,-\n";
    let options =
        CsvOptions::new().missing_texts_in("w", ["-"]).missing_numbers_in(1, [-9.0]).missing_texts_in(0, ["2"]);
    let (types, values) = found(text, &options, 1 << 20).unwrap();
    assert!(!types[0].is_float() && !types[1].is_float());
    let present = |column: usize| values[column].iter().map(Option::is_some).collect::<Vec<_>>();
    assert_eq!(present(0), [true, true, false]);
    assert_eq!(present(1), [false, false, true]);
    assert_eq!(present(2), [false, true, false]);
    let options = options.columns(0..2).missing(CsvMissing::Value(7.0));
    let source = CsvSource::from_bytes_with(text.as_bytes(), options).unwrap();
    assert_eq!(source.load::<f64>().unwrap().as_slice().unwrap(), [-9.0, 7.0, 1.0, 7.0, 7.0, 2.0]);
    assert!(CsvSource::from_bytes_with(text.as_bytes(), CsvOptions::new().missing_texts_in("q", ["-"])).is_err());
}
