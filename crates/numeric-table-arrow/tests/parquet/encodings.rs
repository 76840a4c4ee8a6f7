//! Columns of every type of numbers in every encoding, of pages of any size, as the `parquet` crate reads them.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow_array::types::{
    ArrowPrimitiveType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{ArrayRef, PrimitiveArray, RecordBatch};
use numeric_table::{SoaNumericTable, prelude::*};
use numeric_table_arrow::ArrowOptions;
use numeric_table_arrow::prelude::*;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::arrow::arrow_writer::ArrowWriter;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::schema::types::ColumnPath;
use proptest::prelude::*;

use crate::common::{file, open};

/// Calls a macro with a name, an Arrow type, a type of numbers and an encoding without dictionary for each column.
macro_rules! for_each_column {
    ($call:ident) => {
        $call! {
            "f32" Float32Type f32 BYTE_STREAM_SPLIT; "f64" Float64Type f64 BYTE_STREAM_SPLIT;
            "i8" Int8Type i8 DELTA_BINARY_PACKED; "i16" Int16Type i16 PLAIN; "i32" Int32Type i32 DELTA_BINARY_PACKED;
            "i64" Int64Type i64 BYTE_STREAM_SPLIT; "u8" UInt8Type u8 PLAIN; "u16" UInt16Type u16 DELTA_BINARY_PACKED;
            "u32" UInt32Type u32 PLAIN; "u64" UInt64Type u64 DELTA_BINARY_PACKED
        }
    };
}

/// Returns a column of numbers and nulls.
fn column<P: ArrowPrimitiveType>(
    values: &[(u64, bool)],
    distinct: u64,
    has_nulls: bool,
    of: fn(u64) -> P::Native,
) -> ArrayRef {
    let value = |&(bits, is_null): &(u64, bool)| (!(has_nulls && is_null)).then(|| of(bits % distinct));
    Arc::new(values.iter().map(value).collect::<PrimitiveArray<P>>())
}

/// How a file is written.
#[derive(Clone, Debug)]
struct Form {
    distinct: u64,
    group: usize,
    page: usize,
    dictionary: Option<usize>,
    is_second: bool,
    compression: Compression,
    has_other_encodings: bool,
    /// Bits of columns that may have nulls, and of those that have.
    nullable: u16,
    nulls: u16,
}

fn forms() -> impl Strategy<Value = Form> {
    let compression = prop_oneof![
        Just(Compression::UNCOMPRESSED),
        Just(Compression::SNAPPY),
        Just(Compression::LZ4_RAW),
        Just(Compression::ZSTD(ZstdLevel::default()))
    ];
    let distinct = prop_oneof![Just(1_u64), 2_u64..9, 9_u64..300, Just(u64::MAX)];
    let sizes = (distinct, 1_usize..2000, 1_usize..500, proptest::option::of(16_usize..3000));
    let nulls = prop_oneof![3 => Just(0_u16), 1 => any::<u16>()];
    (sizes, any::<bool>(), compression, prop::bool::weighted(0.2), any::<u16>(), nulls).prop_map(
        |((distinct, group, page, dictionary), is_second, compression, has_other_encodings, nullable, nulls)| Form {
            distinct,
            group,
            page,
            dictionary,
            is_second,
            compression,
            has_other_encodings,
            nullable,
            nulls: nulls & nullable,
        },
    )
}

fn write(path: &Path, values: &[(u64, bool)], form: &Form) {
    let mut columns = Vec::new();
    let mut properties = WriterProperties::builder()
        .set_max_row_group_row_count(Some(form.group))
        .set_data_page_row_count_limit(form.page)
        .set_write_batch_size(form.page)
        .set_dictionary_enabled(form.dictionary.is_some())
        .set_dictionary_page_size_limit(form.dictionary.unwrap_or(0))
        .set_writer_version(if form.is_second { WriterVersion::PARQUET_2_0 } else { WriterVersion::PARQUET_1_0 })
        .set_compression(form.compression);
    macro_rules! make {
        ($($name:literal $arrow:ident $native:ident $encoding:ident);*) => {
            $({
                let bit = |bits: u16| bits >> columns.len() & 1 == 1;
                let (is_nullable, has_nulls) = (bit(form.nullable), bit(form.nulls));
                // Bits that are numbers of any size; as floats, fractions of whole numbers too.
                let array = column::<$arrow>(values, form.distinct, has_nulls, |bits| bits as $native / 2 as $native);
                columns.push(($name, array, is_nullable));
                let encoding = if form.has_other_encodings { Encoding::$encoding } else { Encoding::PLAIN };
                properties = properties.set_column_encoding(ColumnPath::from($name), encoding);
            })*
        };
    }
    for_each_column!(make);
    let batch = RecordBatch::try_from_iter_with_nullable(columns).unwrap();
    let mut writer =
        ArrowWriter::try_new(File::create(path).unwrap(), batch.schema(), Some(properties.build())).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn any_encoding_is_read_as_the_parquet_crate_reads_it(
        values in proptest::collection::vec((any::<u64>(), prop::bool::weighted(0.05)), 0..3000),
        form in forms(),
        cut in 0.0_f64..1.0,
        block in 1_usize..900,
    ) {
        let (_folder, path) = file();
        write(&path, &values, &form);
        let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(&path).unwrap()).unwrap();
        let batches: Vec<_> = reader.build().unwrap().map(Result::unwrap).collect();
        let options = ArrowOptions::new().convert(ConversionPolicy::Saturate).nulls_to(77);
        let source = open(&path).options(options.clone());
        let bits = |table: &HomogenNumericTable<f64>| -> Vec<u64> {
            table.rows::<f64>(..).unwrap().iter().map(|value| value.to_bits()).collect()
        };
        let whole = bits(&source.load::<f64>().unwrap());
        prop_assert_eq!(whole.len(), 10 * values.len());
        let by_columns = source.clone().options(options.clone().layout(DataLayout::ColumnMajor));
        prop_assert_eq!(&bits(&by_columns.load::<f64>().unwrap()), &whole);
        let first = (cut * values.len() as f64) as usize;
        prop_assert_eq!(&bits(&source.load_rows::<f64>(first..).unwrap())[..], &whole[10 * first..]);
        let blocks: Vec<u64> = source.row_blocks::<f64>(block).unwrap().flat_map(|block| bits(&block.unwrap())).collect();
        prop_assert_eq!(&blocks, &whole);
        let columns = source.load_columns().unwrap();
        if !values.is_empty() {
            prop_assert_eq!(&bits(&HomogenNumericTable::from_record_batches(&batches, options.clone()).unwrap()), &whole);
            let expected = SoaNumericTable::from_record_batches(&batches, options).unwrap();
            macro_rules! compare {
                ($($name:literal $arrow:ident $native:ident $encoding:ident);*) => {
                    let mut index = 0;
                    $({
                        let bytes = |table: &SoaNumericTable| -> Vec<u8> {
                            let values = table.column_slice::<$native>(index).unwrap();
                            values.iter().flat_map(|value| value.to_le_bytes()).collect()
                        };
                        prop_assert!(bytes(&columns) == bytes(&expected), $name);
                        index += 1;
                    })*
                    prop_assert_eq!(index, 10);
                };
            }
            for_each_column!(compare);
        }
    }
}
