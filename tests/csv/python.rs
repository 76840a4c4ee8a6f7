//! CSV files as Python reads them: `csv` cuts them into fields, and `float` makes numbers of those. Skipped where there
//! is no Python.

use std::io::Write;
use std::process::{Command, Stdio};

use numeric_table::{
    csv::{CsvColumnKind, CsvHeader, CsvOptions, CsvSource},
    prelude::*,
};
use test_support::bits::Random;

/// Reads records from its standard input, and prints each field's UTF-8 in hexadecimal digits, and the bits of what
/// `float` makes of it, or `x` where that is nothing.
const PYTHON: &str = r#"
import csv, io, struct, sys
text = sys.stdin.buffer.read().decode("utf-8-sig")
for row in csv.reader(io.StringIO(text, newline="")):
    cells = []
    for field in row:
        try:
            bits = "%016x" % struct.unpack("<Q", struct.pack("<d", float(field)))[0]
        except ValueError:
            bits = "x"
        cells.append(field.encode().hex() + ":" + bits)
    if row:
        print(" ".join(cells))
"#;

/// A field: its text, and the bits of its number if it is one.
type Field = (String, Option<u64>);

fn python(text: &[u8]) -> Vec<Vec<Field>> {
    let mut child =
        Command::new("python3").args(["-c", PYTHON]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let text = text.to_vec();
    let writer = std::thread::spawn(move || input.write_all(&text).unwrap());
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    assert!(output.status.success());
    let field = |cell: &str| {
        let (text, bits) = cell.split_once(':').unwrap();
        let bytes = (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap());
        let bits = (bits != "x").then(|| u64::from_str_radix(bits, 16).unwrap());
        (String::from_utf8(bytes.collect()).unwrap(), bits)
    };
    String::from_utf8(output.stdout).unwrap().lines().map(|line| line.split(' ').map(field).collect()).collect()
}

fn has_python() -> bool {
    let is_there = Command::new("python3").arg("--version").output().is_ok();
    if !is_there {
        println!("skipped: there is no python3");
    }
    is_there
}

/// The options under which everything is a word, and those under which it is a number.
fn options(kind: CsvColumnKind) -> CsvOptions {
    let options = CsvOptions::new().header(CsvHeader::No).missing_texts::<String>([]);
    options.kind(.., kind).policy(ConversionPolicy::Saturate)
}

/// The fields that the library sees, as words, without the spaces and tabs around them.
fn words(text: &[u8]) -> Vec<Vec<String>> {
    let source = CsvSource::from_bytes_with(text.to_vec(), options(CsvColumnKind::Categorical)).unwrap();
    let table = source.load::<f64>().unwrap();
    let word = |(column, &index): (usize, &f64)| {
        source.categories(column).unwrap().unwrap()[index as usize].trim_matches([' ', '\t']).to_owned()
    };
    let rows = table.as_slice().unwrap().chunks(table.column_count());
    rows.map(|row| row.iter().enumerate().map(word).collect()).collect()
}

fn assert_same_fields(text: &str) -> Vec<Vec<Field>> {
    let model = python(text.as_bytes());
    let trimmed = |(text, _): &Field| text.trim_matches([' ', '\t']).to_owned();
    let expected: Vec<Vec<String>> = model.iter().map(|row| row.iter().map(trimmed).collect()).collect();
    let found = words(text.as_bytes());
    assert_eq!(found.len(), expected.len(), "{text:?}");
    for (row, (found, expected)) in found.iter().zip(&expected).enumerate() {
        assert_eq!(found, expected, "row {row} of {text:?}");
    }
    model
}

/// What the library makes of a field: the bits of its number, if it is one.
fn number(field: &str) -> Option<u64> {
    let quoted = format!("\"{}\"", field.replace('"', "\"\""));
    match CsvSource::from_bytes_with(quoted.into_bytes(), options(CsvColumnKind::Continuous)).unwrap().load::<f64>() {
        Ok(table) => Some(table.value::<f64>(0, 0).unwrap().to_bits()),
        Err(error) => {
            assert!(error.to_string().contains(" is not a number"), "{error}");
            None
        }
    }
}

fn is_same(one: Option<u64>, other: Option<u64>) -> bool {
    let is_nan = |bits: Option<u64>| bits.is_some_and(|bits| f64::from_bits(bits).is_nan());
    one == other || (is_nan(one) && is_nan(other))
}

/// Numbers at every edge, in every spelling, of which some are none.
fn odd_numbers() -> Vec<String> {
    let mut numbers: Vec<String> = [
        "0",
        "-0",
        "+0",
        "00",
        "1",
        "-1",
        "+1",
        "1.",
        ".1",
        "-.1",
        "1e5",
        "1E5",
        "1e+5",
        "1e-5",
        "1.e5",
        ".1e5",
        "nan",
        "NaN",
        "NAN",
        "-nan",
        "inf",
        "-inf",
        "+inf",
        "Inf",
        "infinity",
        "Infinity",
        "-INFINITY",
        " 1",
        "1 ",
        " 1 ",
        "\t1",
        "\"1\"",
        "\" 1 \"",
        "\"1\"2",
        "1e400",
        "-1e400",
        "1e-400",
        "5e-324",
        "2.4703282292062327e-324",
        "2.4703282292062328e-324",
        "1.7976931348623157e308",
        "1.7976931348623159e308",
        "2.2250738585072011e-308",
        "9007199254740993",
        "18446744073709551616",
        "1e23",
        "8.5e22",
        "",
        "\"\"",
        ".",
        "e",
        "1e",
        "1e+",
        "+",
        "-",
        "+-1",
        "1.1.1",
        "0x1",
        "1f",
        "infi",
        "nan0",
        "1 2",
        "a",
        "\"a\"\"b\"",
        "\"1,5\"",
        "\"1\n\"",
        "\"\n1\"",
    ]
    .map(str::to_owned)
    .to_vec();
    let mut random = Random::new(3);
    for _ in 0..400 {
        let value = f64::from_bits(random.next());
        let digits = random.below(40);
        if value.is_finite() {
            numbers.extend([format!("{value:?}"), format!("{value:.digits$e}"), format!("{}", random.next())]);
        }
    }
    for digits in [17, 19, 20, 40, 400, 800] {
        numbers.push("9".repeat(digits));
        numbers.push(format!("0.{}1", "0".repeat(digits)));
        numbers.push(format!("1.{}1", "0".repeat(digits)));
    }
    numbers
}

#[test]
fn python_reads_the_same_numbers() {
    if !has_python() {
        return;
    }
    let numbers = odd_numbers();
    let mut random = Random::new(5);
    for (end, mark) in [("\n", ""), ("\r\n", "\u{FEFF}"), ("\r", ""), ("\n", "\u{FEFF}")] {
        let mut text = mark.to_owned();
        for row in 0..600 {
            let fields: Vec<&str> = (0..5).map(|_| numbers[random.below(numbers.len())].as_str()).collect();
            text += &fields.join(",");
            text += if row == 599 { "" } else { end };
        }
        let (mut count, mut refused) = (0, 0);
        for (field, bits) in assert_same_fields(&text).into_iter().flatten() {
            assert!(is_same(number(&field), bits), "{field:?} is {:x?}, not {bits:x?}", number(&field));
            (count, refused) = (count + 1, refused + usize::from(bits.is_none()));
        }
        assert!(count == 3000 && refused > 10 && refused < 1000);
    }
}

#[test]
fn python_cuts_random_files_into_the_same_fields() {
    if !has_python() {
        return;
    }
    let mut random = Random::new(17);
    for file in 0..20 {
        let mut pick = |characters: &[char], most: usize| -> String {
            (0..random.below(most)).map(|_| characters[random.below(characters.len())]).collect()
        };
        let ends = [&["\n"][..], &["\r\n"], &["\r"], &["\n", "\r\n", "\r", "\n\n", "\r\n\r\n"]][file % 4];
        let mut text = String::new();
        for row in 0..150 {
            let fields: Vec<String> = (0..3)
                .map(|_| match pick(&['u', 'q', 'q', 'j'], 2).as_str() {
                    "q" => format!("\"{}\"", pick(&['a', ',', '\n', '\r', '"', 'é', ' ', '1'], 6).replace('"', "\"\"")),
                    // Text after the quote.
                    "j" => format!("\"{}\"b{}", pick(&['a', ',', '\n'], 4), pick(&['a', '"', ' '], 4)),
                    _ => {
                        pick(&['a'], 2) + &pick(&['a', '"', 'é', ' ', '\t', '1', '.', '-', '#'], 5).replace("\"", "b\"")
                    }
                })
                .collect();
            text += &fields.join(",");
            text += ends[row % ends.len()];
        }
        assert_same_fields(&text);
    }
}
