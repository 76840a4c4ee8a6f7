//! The same as the record batches that the `parquet` crate reads by itself.

use arrow_array::{Array, Float64Array, Int32Array, UInt16Array};
use numeric_table::prelude::*;
use numeric_table_arrow::ArrowOptions;
use numeric_table_arrow::prelude::*;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::Compression;
use parquet::file::properties::{WriterProperties, WriterVersion};
use proptest::prelude::*;

use crate::common::{array, file, open, write};

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn any_file_is_read_as_its_record_batches_are(
        values in proptest::collection::vec((any::<f64>(), proptest::option::of(-9_i32..9), any::<u16>()), 0..600),
        group in 1_usize..300,
        page in 1_usize..200,
        has_dictionary: bool,
        is_second: bool,
        is_compressed: bool,
        is_by_columns: bool,
        cut in (0.0_f64..1.0, 0.0_f64..1.0),
        block in 1_usize..200,
    ) {
        let (_folder, path) = file();
        let columns = vec![
            ("float", array(values.iter().map(|value| Some(value.0)).collect::<Float64Array>())),
            ("holed", array(values.iter().map(|value| value.1).collect::<Int32Array>())),
            ("whole", array(UInt16Array::from(values.iter().map(|value| value.2).collect::<Vec<_>>()))),
        ];
        let properties = WriterProperties::builder()
            .set_max_row_group_row_count(Some(group))
            .set_data_page_row_count_limit(page)
            .set_write_batch_size(page)
            .set_dictionary_enabled(has_dictionary)
            .set_writer_version(if is_second { WriterVersion::PARQUET_2_0 } else { WriterVersion::PARQUET_1_0 })
            .set_compression(if is_compressed { Compression::SNAPPY } else { Compression::UNCOMPRESSED });
        write(&path, columns, properties.build());

        let layout = if is_by_columns { DataLayout::ColumnMajor } else { DataLayout::RowMajor };
        let options = ArrowOptions::new().convert(ConversionPolicy::Saturate).nulls_to(77).layout(layout);
        let reader = ParquetRecordBatchReaderBuilder::try_new(std::fs::File::open(&path).unwrap()).unwrap();
        let batches: Vec<_> = reader.build().unwrap().map(Result::unwrap).collect();
        prop_assert_eq!(batches.iter().map(|batch| batch.column(1).len()).sum::<usize>(), values.len());
        let source = open(&path).options(options.clone());
        let bits = |table: &HomogenNumericTable<f64>| {
            table.rows::<f64>(..).unwrap().iter().map(|value| value.to_bits()).collect::<Vec<_>>()
        };
        let whole = bits(&source.load::<f64>().unwrap());
        if !values.is_empty() {
            let expected = HomogenNumericTable::<f64>::from_record_batches(&batches, options).unwrap();
            prop_assert_eq!(&whole, &bits(&expected));
        }
        let ends = [cut.0, cut.1].map(|part| (part * values.len() as f64) as usize);
        let rows = ends[0].min(ends[1])..ends[0].max(ends[1]);
        prop_assert_eq!(&bits(&source.load_rows::<f64>(rows.clone()).unwrap())[..], &whole[3 * rows.start..3 * rows.end]);
        let blocks: Vec<u64> = source.row_blocks::<f64>(block).unwrap().flat_map(|block| bits(&block.unwrap())).collect();
        prop_assert_eq!(&blocks, &whole);
        let columns = source.load_columns().unwrap();
        prop_assert_eq!(columns.column_slice::<u16>(2).unwrap(), &values.iter().map(|value| value.2).collect::<Vec<_>>()[..]);
    }
}
