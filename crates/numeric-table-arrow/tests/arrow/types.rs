//! Arrow columns that are numbers without being called so: truth values, times and decimals; and choosing columns.

use std::str::FromStr;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, Date64Array, Decimal32Array, Decimal64Array, Decimal128Array, Decimal256Array,
    DurationNanosecondArray, FixedSizeListArray, Float16Array, Int32Array, Int64Array, IntervalYearMonthArray,
    RecordBatch, StringArray, StructArray, Time32MillisecondArray, Time32SecondArray, Time64NanosecondArray,
    TimestampMicrosecondArray, TimestampMillisecondArray, TimestampNanosecondArray, TimestampSecondArray, UInt8Array,
};
use arrow_buffer::i256;
use arrow_schema::{DataType, Field};
use numeric_table::{
    RowMergedNumericTable, SoaNumericTable, bf16,
    dictionary::TimeUnit,
    f16,
    files::TableWriter,
    interop::{CopyPolicy, CopyReason},
    prelude::*,
};
use numeric_table_arrow::prelude::*;
use proptest::prelude::*;
use test_support::tables::{LAYOUTS, assert_error, shape};

use super::mixed::{arrow_address, assert_shared, batch, table_address};

type Table<T> = HomogenNumericTable<T>;

const POLICIES: [ConversionPolicy; 3] =
    [ConversionPolicy::Saturate, ConversionPolicy::Checked, ConversionPolicy::Exact];

fn convert(policy: ConversionPolicy) -> ArrowOptions {
    ArrowOptions::new().convert(policy)
}

// --- truth values --------------------------------------------------------------------------------------------------

#[test]
fn truth_values_are_0_and_1_of_the_type_that_the_table_has() {
    let truth = BooleanArray::from(vec![true, false, true, true, false]);
    let batch = batch(vec![("a", Arc::new(truth.clone())), ("b", Arc::new(truth))]);
    for part in [batch.slice(0, 5), batch.slice(1, 3), batch.slice(4, 1), batch.slice(2, 0)] {
        let first = (0..5).position(|start| part == batch.slice(start, part.num_rows())).unwrap();
        let expected: Vec<u8> = [1, 0, 1, 1, 0][first..first + part.num_rows()].to_vec();
        let soa = SoaNumericTable::from_record_batch(&part).unwrap();
        assert_eq!(
            (soa.column_slice::<u8>(0).unwrap(), soa.column_slice::<u8>(1).unwrap()),
            (&expected[..], &expected[..])
        );
        let table = Table::<bf16>::from_record_batch(&part).unwrap();
        assert_eq!(table.column::<u8>(1, ..).unwrap()[..], expected);
        assert_eq!(
            from_record_batches_any([&part], ArrowOptions::new()).unwrap().uniform_type(),
            Some(ElementType::U8)
        );
    }
    let two = RowMergedNumericTable::from_record_batches([&batch, &batch.slice(1, 1)], ArrowOptions::new()).unwrap();
    assert_eq!(two.column::<i8>(0, ..).unwrap()[..], [1, 0, 1, 1, 0, 0]);
    let never = ArrowOptions::new().copy(CopyPolicy::Never);
    assert_error!(
        SoaNumericTable::from_record_batches([batch], never),
        ErrorKind::CopyRequired { reason: CopyReason::ElementType }
    );
}

#[test]
fn nulls_of_truth_values_and_lists_of_them_are_as_those_of_numbers() {
    let truth: ArrayRef = Arc::new(BooleanArray::from(vec![Some(true), None, Some(false)]));
    let batch = batch(vec![("a", truth)]);
    let error = Table::<f32>::from_record_batch(&batch).unwrap_err().to_string();
    assert_eq!(
        error,
        "Arrow column 0 (a): 1 null, the first in row 1, and no NaN was requested for them: `ArrowOptions::nulls_to_nan` reads them as NaN"
    );
    let table = Table::<f32>::from_record_batches([&batch], ArrowOptions::new().nulls_to_nan(true)).unwrap();
    let values = table.as_slice().unwrap();
    assert!(values[0] == 1.0 && values[1].is_nan() && values[2] == 0.0);
    let table = SoaNumericTable::from_record_batches([batch], ArrowOptions::new().nulls_to(2)).unwrap();
    assert_eq!(table.column_slice::<u8>(0).unwrap(), [1, 2, 0]);

    let field = Arc::new(Field::new_list_field(DataType::Boolean, false));
    let values = Arc::new(BooleanArray::from(vec![true, false, false, true]));
    let lists = FixedSizeListArray::new(field, 2, values, None);
    for layout in LAYOUTS {
        let lists = [lists.slice(1, 1), lists.clone()];
        let table = Table::<u16>::from_fixed_size_lists(lists, ArrowOptions::new().layout(layout)).unwrap();
        assert_eq!(table.rows::<u8>(..).unwrap()[..], [0, 1, 1, 0, 0, 1]);
    }
}

// --- times ---------------------------------------------------------------------------------------------------------

#[test]
fn times_are_their_integers_on_arrows_memory() {
    let (days, instants) = (vec![0, -1, 19_000], vec![i64::MIN, -1, 1_700_000_000_000]);
    let times: Vec<ArrayRef> = vec![
        Arc::new(Date32Array::from(days.clone())),
        Arc::new(Time32SecondArray::from(days.clone())),
        Arc::new(IntervalYearMonthArray::from(days.clone())),
        Arc::new(Date64Array::from(instants.clone())),
        Arc::new(Time64NanosecondArray::from(instants.clone())),
        Arc::new(TimestampSecondArray::from(instants.clone())),
        Arc::new(TimestampMillisecondArray::from(instants.clone()).with_timezone("+05:30")),
        Arc::new(TimestampMicrosecondArray::from(instants.clone()).with_timezone("Europe/Oslo")),
        Arc::new(TimestampNanosecondArray::from(instants.clone())),
        Arc::new(DurationNanosecondArray::from(instants.clone())),
    ];
    let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
    let batch = batch(names.into_iter().zip(times).collect());
    let never = ArrowOptions::new().copy(CopyPolicy::Never);
    let table = SoaNumericTable::from_record_batches([&batch], never).unwrap();
    assert_shared(&table, &batch);
    for column in 0..3 {
        assert_eq!(table.column_slice::<i32>(column).unwrap(), days);
    }
    for column in 3..10 {
        assert_eq!(table.column_slice::<i64>(column).unwrap(), instants);
    }
    let part = batch.slice(1, 2);
    assert_shared(&SoaNumericTable::from_record_batch(&part).unwrap(), &part);
    let one = batch.project(&[7]).unwrap();
    let table = Table::<i64>::from_record_batch(&one).unwrap();
    assert_eq!(table.as_slice().unwrap().as_ptr().addr(), arrow_address(one.column(0)));
    let error = Table::<f64>::from_record_batch(&one).unwrap_err().to_string();
    assert_eq!(
        error,
        "Arrow column 0 (h): i64 values in a table of f64, and no conversion was requested: `ArrowOptions::convert` converts them"
    );
}

#[test]
fn points_in_time_go_out_as_what_they_came_in_on_the_same_memory() {
    let (days, instants) = (vec![0, -1, 19_000], vec![i64::MIN, -1, 1_700_000_000_000]);
    let times: Vec<ArrayRef> = vec![
        Arc::new(Date32Array::from(days.clone())),
        Arc::new(TimestampSecondArray::from(instants.clone())),
        Arc::new(TimestampMillisecondArray::from(instants.clone())),
        Arc::new(TimestampMicrosecondArray::from(instants.clone())),
        Arc::new(TimestampNanosecondArray::from(instants.clone())),
    ];
    let batch = batch(["a", "b", "c", "d", "e"].into_iter().zip(times).collect());
    let table = SoaNumericTable::from_record_batch(&batch).unwrap();
    let units =
        [TimeUnit::Days, TimeUnit::Seconds, TimeUnit::Milliseconds, TimeUnit::Microseconds, TimeUnit::Nanoseconds];
    for (feature, unit) in table.dictionary().iter().zip(units) {
        assert_eq!(feature.feature_type, FeatureType::Time(unit));
    }
    let out = table.to_record_batch_with(CopyPolicy::Never).unwrap();
    assert_eq!(out.columns(), batch.columns());
    for (one, other) in out.columns().iter().zip(batch.columns()) {
        assert_eq!((one.data_type(), arrow_address(one)), (other.data_type(), arrow_address(other)));
    }
    // In another type they are numbers, which still know their unit.
    let floats = Table::<f64>::from_record_batches([&batch], convert(ConversionPolicy::Checked)).unwrap();
    let out = floats.to_record_batch().unwrap();
    assert_eq!(out.column(0).data_type(), &DataType::Float64);
    assert_eq!(Table::<f64>::from_record_batch(&out).unwrap().dictionary(), floats.dictionary());
}

#[test]
fn batches_of_another_unit_are_not_joined() {
    let instants = vec![86_400_i64, 1];
    let of = |array: ArrayRef| batch(vec![("t", array)]);
    let seconds = of(Arc::new(TimestampSecondArray::from(instants.clone())));
    let millis = of(Arc::new(TimestampMillisecondArray::from(instants.clone())));
    let plain = of(Arc::new(Int64Array::from(instants)));
    let floats = |batch| {
        let table = Table::<f64>::from_record_batches([batch], convert(ConversionPolicy::Checked)).unwrap();
        table.to_record_batch().unwrap() // the unit is in the metadata
    };
    let (float_seconds, float_millis) = (floats(&seconds), floats(&millis));
    let (day_seconds, day_millis) =
        (of(Arc::new(Time32SecondArray::from(vec![1]))), of(Arc::new(Time32MillisecondArray::from(vec![1]))));
    let pairs = [[&seconds, &millis], [&plain, &millis], [&float_seconds, &float_millis], [&day_seconds, &day_millis]];
    for pair in pairs {
        let options = || convert(ConversionPolicy::Checked);
        let errors = [
            SoaNumericTable::from_record_batches(pair, options()).map(drop).unwrap_err(),
            Table::<f64>::from_record_batches(pair, options()).map(drop).unwrap_err(),
            RowMergedNumericTable::from_record_batches(pair, options()).map(drop).unwrap_err(),
        ];
        for error in errors {
            assert!(error.to_string().contains("a time of another unit"), "{error}");
        }
    }
    for same in [[&seconds, &plain], [&seconds, &seconds]] {
        assert_eq!(Table::<i64>::from_record_batches(same, ArrowOptions::new()).unwrap().row_count(), 4);
    }
    let dictionary = SoaNumericTable::from_record_batch(&seconds).unwrap().dictionary().clone();
    let folder = tempfile::tempdir().unwrap();
    let mut writer = TableWriter::<i64>::create(folder.path().join("times.ntb"), 1, dictionary).unwrap();
    writer.append_record_batch(&seconds, &ArrowOptions::new()).unwrap();
    let error = writer.append_record_batch(&millis, &ArrowOptions::new()).unwrap_err();
    assert!(
        matches!(
            error.kind(),
            ErrorKind::UnequalTables { table: 1, column: Some(0), reason, .. } if reason.contains("has another")
        ),
        "{error}"
    );
    writer.append_record_batch(&plain, &ArrowOptions::new()).unwrap();
    writer.finish().unwrap();
}

// --- decimals ------------------------------------------------------------------------------------------------------

fn decimals(values: Vec<i128>, precision: u8, scale: i8) -> RecordBatch {
    let array = Decimal128Array::from(values).with_precision_and_scale(precision, scale).unwrap();
    batch(vec![("price", Arc::new(array))])
}

#[test]
fn decimals_are_converted_only_if_asked_unless_their_column_has_its_own_type() {
    let batch = decimals(vec![1999, -50, 1], 10, 2);
    let expected = "Arrow column 0 (price): Decimal128(10, 2) values in a table of f64, and no conversion was requested: `ArrowOptions::convert` converts them";
    assert_eq!(Table::<f64>::from_record_batch(&batch).unwrap_err().to_string(), expected);
    for options in [ArrowOptions::new(), convert(ConversionPolicy::Checked)] {
        let table = SoaNumericTable::from_record_batches([&batch], options).unwrap();
        assert_eq!(table.column_slice::<f64>(0).unwrap(), [19.99, -0.5, 0.01]);
    }

    let integers = decimals(vec![i128::from(i64::MAX) / 10, -7], 18, 0);
    let table = SoaNumericTable::from_record_batch(&integers).unwrap();
    assert_eq!(table.column_slice::<i64>(0).unwrap(), [i64::MAX / 10, -7]);
    assert!(Table::<i64>::from_record_batch(&integers).is_ok() && Table::<f64>::from_record_batch(&integers).is_err());
    // 19 digits may be more than an `i64` holds.
    let table = SoaNumericTable::from_record_batch(&decimals(vec![1], 19, 0)).unwrap();
    assert_eq!(table.column_slice::<f64>(0).unwrap(), [1.0]);
}

#[test]
fn the_policy_decides_about_decimals_and_errors_say_where() {
    let values = [100, 250, 25_600, -100, 1];
    let two = [decimals(values[..2].to_vec(), 10, 2), decimals(values[2..].to_vec(), 10, 2)];
    let load = |policy| Table::<u8>::from_record_batches(&two, convert(policy));
    assert_eq!(load(ConversionPolicy::Saturate).unwrap().as_slice().unwrap(), [1, 2, 255, 0, 0]);
    let error = load(ConversionPolicy::Checked).unwrap_err().to_string();
    assert_eq!(
        error,
        "the value 256 at row 2, column 0 is not representable as u8: `ConversionPolicy::Saturate` accepts it in \
             calls that take a policy"
    );
    let error = load(ConversionPolicy::Exact).unwrap_err().to_string();
    assert_eq!(
        error,
        "the value 2.5 at row 1, column 0 is not representable as u8: `ConversionPolicy::Saturate` accepts it in \
             calls that take a policy"
    );
    let error = Table::<f32>::from_record_batches([decimals(vec![50, 10], 10, 2)], convert(ConversionPolicy::Exact));
    assert_error!(error, ErrorKind::ValueNotRepresentable { row: 1, column: 0, .. }); // a tenth is no float
    let huge = decimals(vec![10_i128.pow(37)], 38, 0);
    assert_eq!(
        Table::<f16>::from_record_batches([&huge], convert(ConversionPolicy::Saturate)).unwrap().as_slice().unwrap(),
        [f16::INFINITY]
    );
    assert_error!(
        Table::<f16>::from_record_batches([&huge], convert(ConversionPolicy::Checked)),
        ErrorKind::ValueNotRepresentable { row: 0, column: 0, .. }
    );
    // What lies below a null is not looked at.
    let holes = Decimal128Array::new(vec![100, 99_999, 300].into(), Some(vec![true, false, true].into()));
    let holes = holes.with_precision_and_scale(10, 2).unwrap();
    let options = convert(ConversionPolicy::Exact).nulls_to(9);
    let table = Table::<u8>::from_record_batches([batch(vec![("a", Arc::new(holes))])], options).unwrap();
    assert_eq!(table.as_slice().unwrap(), [1, 9, 3]);
}

/// Decimals as text, which the standard library rounds once.
fn text(significand: i256, scale: i8) -> String {
    format!("{significand}e{}", -i32::from(scale))
}

/// What a table of `T` holds, by policy; `None` if the decimal is refused.
fn converted<T: Element>(array: ArrayRef) -> [Option<T>; 3] {
    let batch = batch(vec![("a", array)]);
    POLICIES.map(|policy| Some(Table::<T>::from_record_batches([&batch], convert(policy)).ok()?.as_slice().unwrap()[0]))
}

/// Checks a decimal in all types against its text.
fn check(significand: i256, precision: u8, scale: i8) {
    let array: ArrayRef =
        Arc::new(Decimal256Array::from_iter_values([significand]).with_precision_and_scale(precision, scale).unwrap());
    let (text, exact) = (text(significand, scale), digits(significand, scale));
    let wide = f64::from_str(&text).unwrap();
    let is_exact = |shown: String| shown == exact;
    let expected = [Some(wide), Some(wide), Some(wide).filter(|wide| is_exact(format!("{wide:.400}")))];
    assert_eq!(converted::<f64>(array.clone()), expected, "{text}");
    let narrow = f32::from_str(&text).unwrap();
    let finite = Some(narrow).filter(|value| value.is_finite());
    let same = finite.filter(|narrow| is_exact(format!("{narrow:.400}")));
    assert_eq!(converted::<f32>(array.clone()), [Some(narrow), finite, same], "{text}");
    // Integers: the digits before the point.
    let (whole, rest) = exact.split_once('.').unwrap();
    let is_whole = rest.bytes().all(|digit| digit == b'0');
    let integer = i64::from_str(if whole == "-0" { "0" } else { whole }).ok();
    let clamped = integer.unwrap_or(if significand.is_negative() { i64::MIN } else { i64::MAX });
    assert_eq!(converted::<i64>(array.clone()), [Some(clamped), integer, integer.filter(|_| is_whole)], "{text}");
    let byte = integer.and_then(|integer| i8::try_from(integer).ok());
    let clamped = clamped.clamp(-128, 127) as i8;
    assert_eq!(converted::<i8>(array.clone()), [Some(clamped), byte, byte.filter(|_| is_whole)], "{text}");
    // Shorter significands are the same number, whatever they are stored in.
    if let Some(value) = significand.to_i128().filter(|_| precision <= 38) {
        let same = Decimal128Array::from_iter_values([value]).with_precision_and_scale(precision, scale).unwrap();
        assert_eq!(converted::<f64>(Arc::new(same.clone())), expected, "{text}");
        assert_eq!(converted::<f16>(Arc::new(same.clone())), converted::<f16>(array.clone()), "{text}");
        assert_eq!(converted::<i64>(Arc::new(same)), converted::<i64>(array), "{text}");
    }
}

/// Returns all digits of a decimal, 400 of them after the point.
fn digits(significand: i256, scale: i8) -> String {
    let (sign, size) = match significand.to_string() {
        text if text.starts_with('-') => ("-", text[1..].to_owned()),
        text => ("", text),
    };
    if scale <= 0 {
        let zeros = if size == "0" { 0 } else { usize::from(scale.unsigned_abs()) };
        return format!("{sign}{size}{}.{}", "0".repeat(zeros), "0".repeat(400));
    }
    let scale = usize::from(scale.unsigned_abs());
    let padded = format!("{size:0>width$}", width = scale + 1);
    let (whole, rest) = padded.split_at(padded.len() - scale);
    format!("{sign}{whole}.{rest:0<400}")
}

#[test]
fn decimals_are_rounded_once_as_their_text_is() {
    let of = |text: &str| i256::from_string(text).unwrap();
    for (significand, precision, scale) in [
        ("0", 5, 2),
        ("-1", 38, 38),
        ("9007199254740993", 38, 0),  // 2^53 + 1: a tie
        ("90071992547409930", 38, 1), // the same, and divided
        ("90071992547409931", 38, 1), // a little more than a tie
        ("90071992547409929", 38, 1), // a little less
        ("9007199254740993", 38, -3),
        ("16777217", 38, 0),                        // 2^24 + 1: a tie of f32
        ("167772170000000000000000000001", 38, 22), // which a first rounding to f64 would make one
        ("167772169999999999999999999999", 38, 22),
        ("123456789", 9, 4),
        ("99999999999999999999999999999999999999", 38, 19),
        ("99999999999999999999999999999999999999", 38, 0),
        ("-99999999999999999999999999999999999999", 38, -38),
        ("9999999999999999999999999999999999999999999999999999999999999999999999999999", 76, 76),
        ("-9999999999999999999999999999999999999999999999999999999999999999999999999999", 76, 30),
        ("1", 76, 76),
        ("5", 1, -75),
        ("9223372036854775807", 38, 0),
        ("92233720368547758079", 38, 1),
        ("9223372036854775808", 38, 0),
        ("-1289", 10, 1),
        ("12750000000000000000000000000", 38, 26),
    ] {
        check(of(significand), precision, scale);
    }
    // A tie of f16, 1 + 2^-11, and numbers so near to it that an f64 does not tell them apart.
    let half = |significand: &str| {
        let array = Decimal128Array::from_iter_values([significand.parse().unwrap()]);
        converted::<f16>(Arc::new(array.with_precision_and_scale(38, 25).unwrap()))[0].unwrap().to_bits()
    };
    assert_eq!(half("10004882812500000000000000"), 0x3C00); // to even
    assert_eq!(half("10004882812500000000000001"), 0x3C01);
    assert_eq!(half("10014648437500000000000000"), 0x3C02); // to even
    assert_eq!(half("10014648437499999999999999"), 0x3C01);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_decimal_is_rounded_once(
        low in any::<u128>(),
        high in any::<i128>(),
        cut in 0_u8..=253,
        scale in -30_i8..=76,
    ) {
        let significand = i256::from_parts(low, high) >> cut;
        // As many digits as the type has.
        let precision = (76 + scale.min(0)) as u8;
        let limit = i256::from_i128(10).checked_pow(precision.into()).unwrap();
        check(significand % limit, precision, scale);
    }

    #[test]
    fn short_decimals_are_rounded_once(value in any::<i64>(), cut in 0_u8..63, scale in -18_i8..=38) {
        check(i256::from(value >> cut), 38, scale);
    }
}

#[test]
fn decimals_of_every_width_are_taken() {
    let arrays: Vec<ArrayRef> = vec![
        Arc::new(Decimal32Array::from(vec![150, -2]).with_precision_and_scale(9, 1).unwrap()),
        Arc::new(Decimal64Array::from(vec![150, -2]).with_precision_and_scale(18, 1).unwrap()),
        Arc::new(Decimal128Array::from(vec![150, -2]).with_precision_and_scale(38, 1).unwrap()),
        Arc::new(Decimal256Array::from(vec![i256::from(150), i256::from(-2)]).with_precision_and_scale(76, 1).unwrap()),
    ];
    assert_eq!(arrays[0].data_type(), &DataType::Decimal32(9, 1));
    let batch = batch(["a", "b", "c", "d"].into_iter().zip(arrays).collect());
    let table = Table::<f32>::from_record_batches([&batch], convert(ConversionPolicy::Checked)).unwrap();
    assert_eq!(table.as_slice().unwrap(), [15.0, 15.0, 15.0, 15.0, -0.2, -0.2, -0.2, -0.2]);
    let table = Table::<i32>::from_record_batches([&batch], convert(ConversionPolicy::Saturate)).unwrap();
    assert_eq!(table.as_slice().unwrap(), [15, 15, 15, 15, 0, 0, 0, 0]);
}

#[test]
fn decimals_of_more_digits_than_there_are_are_refused_by_name() {
    let array = Decimal128Array::from(vec![1]).with_precision_and_scale(38, -39).unwrap();
    let error =
        Table::<f64>::from_record_batches([batch(vec![("a", Arc::new(array))])], convert(ConversionPolicy::Saturate));
    let expected = "Arrow column 0 (a): Decimal128(38, -39) has more than 76 digits before or after the point";
    assert_eq!(error.unwrap_err().to_string(), expected);
}

// --- types that are asked for --------------------------------------------------------------------------------------

#[test]
fn columns_of_structures_of_arrays_have_the_type_that_is_asked_for() {
    let halves = Float16Array::from(vec![f16::from_f32(1.5), f16::from_f32(-2.0)]);
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("truth", Arc::new(BooleanArray::from(vec![true, false]))),
        ("count", Arc::new(Int64Array::from(vec![3, 300]))),
        ("half", Arc::new(halves)),
        ("id", Arc::new(Int32Array::from(vec![7, 8]))),
    ];
    let batch = batch(columns);
    let options = ArrowOptions::new()
        .column_type("truth", ElementType::F32)
        .column_type(1, ElementType::U16)
        .column_type("half".to_owned(), ElementType::F64);
    let table = SoaNumericTable::from_record_batches([&batch], options.clone()).unwrap();
    assert_eq!(table.column_slice::<f32>(0).unwrap(), [1.0, 0.0]);
    assert_eq!(table.column_slice::<u16>(1).unwrap(), [3, 300]);
    assert_eq!(table.column_slice::<f64>(2).unwrap(), [1.5, -2.0]);
    assert_eq!(table_address(&table, 3), arrow_address(batch.column(3)), "nothing was asked of it");
    let structs = StructArray::from(batch.clone());
    let same = SoaNumericTable::from_struct_arrays([structs], options.clone()).unwrap();
    assert_eq!(same.dictionary(), table.dictionary());

    let narrow = ArrowOptions::new().column_type("count", ElementType::U8);
    let load = |options| SoaNumericTable::from_record_batches([&batch], options);
    assert_error!(load(narrow.clone()), ErrorKind::ValueNotRepresentable { row: 1, column: 1, .. });
    assert_eq!(load(narrow.convert(ConversionPolicy::Saturate)).unwrap().column_slice::<u8>(1).unwrap(), [3, 255]);
    let error = load(ArrowOptions::new().column_type("cuont", ElementType::U8)).unwrap_err().to_string();
    assert_eq!(error, r#"no column has the name "cuont"; similar names: "count""#);
    assert_error!(
        load(options.column_type(4, ElementType::U8)),
        ErrorKind::ColumnOutOfRange { column: 4, column_count: 4 }
    );
}

// --- choosing columns ----------------------------------------------------------------------------------------------

fn some() -> RecordBatch {
    batch(vec![
        ("id", Arc::new(Int64Array::from(vec![7, 8, 9]))),
        ("note", Arc::new(StringArray::from(vec!["a", "b", "c"]))),
        ("height", Arc::new(UInt8Array::from(vec![1, 2, 3]))),
        ("width", Arc::new(UInt8Array::from(vec![4, 5, 6]))),
    ])
}

#[test]
fn columns_are_chosen_by_names_and_numbers_and_no_other_is_looked_at() {
    let batch = some();
    let with = |options| Table::<u8>::from_record_batches([&batch.slice(0, 1), &batch.slice(1, 2)], options).unwrap();
    let table = with(ArrowOptions::new().columns(["width", "height"]));
    assert_eq!(table.as_slice().unwrap(), [4, 1, 5, 2, 6, 3]);
    assert!(table.names().eq([Some("width"), Some("height")]));
    assert_eq!(with(ArrowOptions::new().columns(2..)).rows::<u8>(..1).unwrap()[..], [1, 4]);
    assert_eq!(with(ArrowOptions::new().columns(vec![3, 2, 3])).rows::<u8>(..1).unwrap()[..], [4, 1, 4]);
    assert_eq!(with(ArrowOptions::new().columns([0; 0])).shape(), shape(3, 0));
    // One column is shared, wherever it is.
    let never = ArrowOptions::new().columns(["width".to_owned()]).copy(CopyPolicy::Never);
    let table = Table::<u8>::from_record_batches([&batch], never.clone()).unwrap();
    assert_eq!(table.as_slice().unwrap().as_ptr().addr(), arrow_address(batch.column(3)));
    let table = SoaNumericTable::from_record_batches([&batch], never.columns(["width", "id"])).unwrap();
    assert_eq!(
        [0, 1].map(|column| table_address(&table, column)),
        [3, 0].map(|column| arrow_address(batch.column(column)))
    );
    let any = from_record_batches_any([&batch], ArrowOptions::new().columns([2, 3])).unwrap();
    assert_eq!((any.uniform_type(), any.shape()), (Some(ElementType::U8), shape(3, 2)));
    let rows =
        RowMergedNumericTable::from_record_batches([&batch, &batch], ArrowOptions::new().columns([0, 3])).unwrap();
    assert_eq!(rows.column::<u8>(1, ..).unwrap()[..], [4, 5, 6, 4, 5, 6]);
}

#[test]
fn columns_that_are_not_there_are_errors_that_name_near_ones() {
    let batch = some();
    let load = |options| SoaNumericTable::from_record_batches([&batch], options);
    let error = load(ArrowOptions::new().columns(["widht"])).unwrap_err().to_string();
    assert_eq!(error, r#"no column has the name "widht"; similar names: "width""#);
    assert_error!(load(ArrowOptions::new().columns([4])), ErrorKind::ColumnOutOfRange { column: 4, column_count: 4 });
    assert_error!(load(ArrowOptions::new().columns(3..5)), ErrorKind::OutOfRange { what: "columns", .. });
    // Of later batches, the columns that are chosen have to be those of the first.
    let chosen = ArrowOptions::new().columns(["height"]);
    let other = batch.project(&[0, 1, 3, 2]).unwrap();
    let error = Table::<u8>::from_record_batches([&batch, &other], chosen.clone()).unwrap_err().to_string();
    assert_eq!(error, "Arrow column 2 (height): in batch 1: its name is width");
    let fewer = batch.project(&[0, 1]).unwrap();
    let error = Table::<u8>::from_record_batches([&batch, &fewer], chosen.clone()).unwrap_err().to_string();
    assert_eq!(error, "Arrow column 2 (height): in batch 1: there are only 2 columns");
    let fewer = batch.project(&[1, 0, 2]).unwrap();
    assert_eq!(Table::<u8>::from_record_batches([&batch, &fewer], chosen).unwrap().row_count(), 6);
}
