//! Files of pages made by hand. Each is read as the `parquet` crate reads it, or is an error for both.

use std::panic::catch_unwind;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Float32Type;
use bytes::Bytes;
use numeric_table_arrow::ArrowOptions;
use numeric_table_arrow::parquet::ParquetSource;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::{Compression, Encoding, PageType};
use parquet::column::page::{CompressedPage, Page, PageWriter};
use parquet::column::writer::ColumnCloseResult;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::writer::{SerializedFileWriter, SerializedPageWriter, TrackedWrite};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::SchemaDescriptor;

/// What a null becomes.
const NULL: f32 = 77.0;

/// Levels of `count` values, none of them null: a run, or groups of 8.
fn levels(count: usize, is_packed: bool) -> Vec<u8> {
    let (count, head) = match is_packed {
        true => (count.div_ceil(8), 1),
        false => (count, 0),
    };
    let mut bytes = varint(count << 1 | head);
    bytes.extend(vec![0xff; if is_packed { count } else { 0 }]);
    bytes.extend(vec![1; (!is_packed).into()]);
    bytes
}

fn varint(mut value: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

fn plain(values: impl IntoIterator<Item = f32>) -> Vec<u8> {
    values.into_iter().flat_map(f32::to_le_bytes).collect()
}

/// Indices of 2 bits, in groups of 8.
fn packed(indices: &[u8]) -> Vec<u8> {
    let mut bytes = vec![2];
    bytes.extend(varint(indices.len().div_ceil(8) << 1 | 1));
    for group in indices.chunks(8) {
        let word = group.iter().rev().fold(0_u16, |word, &index| word << 2 | u16::from(index));
        bytes.extend(word.to_le_bytes());
    }
    bytes
}

/// A page of version 1.
fn v1(count: usize, encoding: Encoding, levels: Option<Vec<u8>>, values: Vec<u8>) -> Page {
    let mut bytes = Vec::new();
    if let Some(levels) = levels {
        bytes.extend((levels.len() as u32).to_le_bytes());
        bytes.extend(levels);
    }
    bytes.extend(values);
    Page::DataPage {
        buf: bytes.into(),
        num_values: count as u32,
        encoding,
        def_level_encoding: Encoding::RLE,
        rep_level_encoding: Encoding::RLE,
        statistics: None,
    }
}

/// A page of version 2.
fn v2(count: usize, nulls: u32, encoding: Encoding, levels: Vec<u8>, values: Vec<u8>) -> Page {
    Page::DataPageV2 {
        def_levels_byte_len: levels.len() as u32,
        buf: [levels, values].concat().into(),
        num_values: count as u32,
        encoding,
        num_nulls: nulls,
        num_rows: count as u32,
        rep_levels_byte_len: 0,
        is_compressed: false,
        statistics: None,
    }
}

fn dictionary(values: &[f32]) -> Page {
    Page::DictionaryPage {
        buf: plain(values.iter().copied()).into(),
        num_values: values.len() as u32,
        encoding: Encoding::PLAIN,
        is_sorted: false,
    }
}

/// Returns a file of one column and one row group.
fn file_of(pages: &[Page], rows: usize, is_optional: bool) -> Bytes {
    let kind = if is_optional { "optional" } else { "required" };
    let schema = Arc::new(parse_message_type(&format!("message table {{ {kind} float x; }}")).unwrap());
    let mut chunk = TrackedWrite::new(Vec::new());
    let (mut first, mut dictionary) = (None, None);
    let mut writer = SerializedPageWriter::new(&mut chunk);
    for page in pages {
        let page = CompressedPage::new(page.clone(), page.buffer().len());
        let written = writer.write_page(page).unwrap();
        match written.page_type {
            // The footer names a dictionary only where readers expect it.
            PageType::DICTIONARY_PAGE if first.is_none() => dictionary = dictionary.or(Some(written.offset as i64)),
            _ => first = first.or(Some(written.offset as i64)),
        }
    }
    let chunk = Bytes::from(chunk.into_inner().unwrap());
    let metadata = ColumnChunkMetaData::builder(SchemaDescriptor::new(schema.clone()).column(0))
        .set_encodings(vec![Encoding::PLAIN, Encoding::RLE, Encoding::RLE_DICTIONARY])
        .set_compression(Compression::UNCOMPRESSED)
        .set_num_values(rows as i64)
        .set_total_compressed_size(chunk.len() as i64)
        .set_total_uncompressed_size(chunk.len() as i64)
        .set_data_page_offset(first.unwrap_or(0))
        .set_dictionary_page_offset(dictionary)
        .build()
        .unwrap();
    let close = ColumnCloseResult {
        bytes_written: chunk.len() as u64,
        rows_written: rows as u64,
        metadata,
        bloom_filter: None,
        column_index: None,
        offset_index: None,
    };
    let mut file = SerializedFileWriter::new(Vec::new(), schema, Default::default()).unwrap();
    let mut group = file.next_row_group().unwrap();
    group.append_column(&chunk, close).unwrap();
    group.close().unwrap();
    file.into_inner().unwrap().into()
}

/// Reads a file with the `parquet` crate. Returns `None` for an error, or fewer rows than the footer claims.
fn reference(file: Bytes, rows: usize) -> Option<Vec<u32>> {
    let read = || {
        let reader = ParquetRecordBatchReaderBuilder::try_new(file).ok()?.with_batch_size(1 << 16).build().ok()?;
        let mut values = Vec::new();
        for batch in reader {
            let batch = batch.ok()?;
            let column = batch.column(0).as_primitive::<Float32Type>();
            values.extend(column.iter().map(|value| value.unwrap_or(NULL).to_bits()));
        }
        Some(values)
    };
    catch_unwind(std::panic::AssertUnwindSafe(read)).ok().flatten().filter(|values| values.len() == rows)
}

fn ours(file: Bytes) -> Option<Vec<u32>> {
    let source = ParquetSource::from_bytes(file).ok()?.options(ArrowOptions::new().nulls_to(NULL));
    Some(source.load::<f32>().ok()?.as_slice().unwrap().iter().map(|value| value.to_bits()).collect())
}

/// Checks a file of some pages. Returns its values, or `None` if it is an error.
fn check(pages: &[Page], rows: usize, is_optional: bool) -> Option<Vec<f32>> {
    let file = file_of(pages, rows, is_optional);
    let expected = reference(file.clone(), rows);
    assert_eq!(ours(file), expected);
    expected.map(|values| values.into_iter().map(f32::from_bits).collect())
}

#[test]
fn pages_of_both_versions_and_all_forms_of_levels() {
    let values = || (0..1000).map(|value| value as f32 / 8.0 - 3.0);
    let expected: Vec<f32> = values().collect();
    for is_packed in [false, true] {
        let levels = || levels(1000, is_packed);
        let page = v1(1000, Encoding::PLAIN, Some(levels()), plain(values()));
        assert_eq!(check(&[page], 1000, true).as_ref(), Some(&expected));
        let page = v2(1000, 0, Encoding::PLAIN, levels(), plain(values()));
        assert_eq!(check(&[page], 1000, true).as_ref(), Some(&expected));
    }
    let pages = [v1(600, Encoding::PLAIN, None, plain(values().take(600))), {
        v2(400, 0, Encoding::PLAIN, vec![], plain(values().skip(600)))
    }];
    assert_eq!(check(&pages, 1000, false).as_ref(), Some(&expected));
    // Bytes after the values are ignored.
    let longer = [plain(values()), vec![1, 2, 3]].concat();
    assert_eq!(check(&[v1(1000, Encoding::PLAIN, None, longer)], 1000, false).as_ref(), Some(&expected));
}

#[test]
#[expect(deprecated)]
fn levels_of_old_files() {
    let mut page = v1(16, Encoding::PLAIN, None, [vec![0xff, 0xff], plain((0..16).map(|value| value as f32))].concat());
    if let Page::DataPage { def_level_encoding, .. } = &mut page {
        *def_level_encoding = Encoding::BIT_PACKED;
    }
    let _ = check(&[page], 16, true);
}

#[test]
fn dictionaries_and_the_pages_after_them() {
    let colors = [0.5, -0.0, f32::NAN, 9.0];
    let indices: Vec<u8> = (0..1003_u32).map(|row| (row * row % 7 % 4) as u8).collect();
    let of = |indices: &[u8]| indices.iter().map(|&index| colors[index as usize].to_bits()).collect::<Vec<_>>();
    let bits = |values: Option<Vec<f32>>| values.unwrap().into_iter().map(f32::to_bits).collect::<Vec<_>>();
    for encoding in [Encoding::RLE_DICTIONARY, Encoding::PLAIN_DICTIONARY] {
        let page = v1(1003, encoding, Some(levels(1003, false)), packed(&indices));
        assert_eq!(bits(check(&[dictionary(&colors), page], 1003, true)), of(&indices));
    }
    // A run, groups, and then values without the dictionary.
    let mixed = [vec![2], varint(5 << 1), vec![3], packed(&indices[..16])[1..].to_vec()].concat();
    let page = v1(21, Encoding::RLE_DICTIONARY, None, mixed);
    let after = v2(3, 0, Encoding::PLAIN, vec![], plain([1.0, 2.0, 3.0]));
    let expected =
        [vec![9_f32.to_bits(); 5], of(&indices[..16]), [1_f32, 2.0, 3.0].map(f32::to_bits).to_vec()].concat();
    assert_eq!(bits(check(&[dictionary(&colors), page.clone(), after.clone()], 24, false)), expected);
    let _ = check(&[after.clone(), dictionary(&colors), page.clone()], 24, false);
    // One value needs no bits.
    for values in [vec![0, 20 << 1], vec![0, 3 << 1 | 1]] {
        let page = v1(20, Encoding::RLE_DICTIONARY, None, values);
        let _ = check(&[dictionary(&[4.5]), page], 20, false);
    }
    // Irregular: no dictionary, two, too short a one, other encodings, other widths, indices that are cut off.
    assert!(check(std::slice::from_ref(&page), 21, false).is_none());
    assert!(check(&[dictionary(&colors), dictionary(&colors), page.clone()], 21, false).is_none());
    assert!(check(&[dictionary(&colors[..2]), page], 21, false).is_none());
    for values in [vec![], vec![2], vec![33, 1], vec![40, 2, 1], vec![2, 43], vec![2, 0, 0], packed(&indices[..8])] {
        for count in [0, 21] {
            let page = v1(count, Encoding::RLE_DICTIONARY, None, values.clone());
            let _ = check(&[dictionary(&colors), page, after.clone()], count + 3, false);
        }
    }
}

#[test]
fn empty_pages_and_files_without_rows() {
    let page = || v1(3, Encoding::PLAIN, Some(levels(3, false)), plain([1.0, 2.0, 3.0]));
    let empty = [
        v1(0, Encoding::PLAIN, Some(vec![]), vec![]),
        v2(0, 0, Encoding::PLAIN, vec![], vec![]),
        v1(0, Encoding::PLAIN, Some(levels(0, true)), vec![]),
    ];
    for empty in empty {
        let pages = [empty.clone(), page(), empty.clone(), empty.clone(), page(), empty.clone()];
        assert_eq!(check(&pages, 6, true), Some(vec![1.0, 2.0, 3.0, 1.0, 2.0, 3.0]));
        assert_eq!(check(&[empty], 0, true), Some(vec![]));
    }
    assert_eq!(check(&[], 0, true), Some(vec![]));
    assert_eq!(check(&[dictionary(&[1.0])], 0, false), Some(vec![]));
}

#[test]
fn nulls_and_other_encodings_in_the_middle() {
    // Several steps of 64 Ki rows; the last page has a null in each group.
    let first: Vec<f32> = (0..150_000).map(|value| value as f32).collect();
    let page = v1(150_000, Encoding::PLAIN, Some(levels(150_000, false)), plain(first.iter().copied()));
    let holes = [varint(2500 << 1 | 1), vec![0b1111_0111; 2500]].concat();
    let values = || plain((0..17_500).map(|value| -(value as f32)));
    for last in [
        v1(20_000, Encoding::PLAIN, Some(holes.clone()), values()),
        v2(20_000, 2500, Encoding::PLAIN, holes.clone(), values()),
    ] {
        let found = check(&[page.clone(), last.clone()], 170_000, true).unwrap();
        assert!(found[..150_000] == first && found[150_003] == NULL && found[150_004] == -3.0);
        assert!(check(&[last, page.clone()], 170_000, true).is_some());
    }
    // The bytes of 2 values, split: the footer does not list the encoding.
    let split = [1.5_f32, -2.5].map(f32::to_le_bytes);
    let split = (0..4).flat_map(|byte| split.map(|value| value[byte])).collect();
    let last = v1(2, Encoding::BYTE_STREAM_SPLIT, Some(levels(2, false)), split);
    let found = check(&[page, last], 150_002, true).unwrap();
    assert_eq!(found[149_999..], [149_999.0, 1.5, -2.5]);
}

#[test]
fn pages_with_other_numbers_of_values_are_errors() {
    let page = |count, values: usize| v1(count, Encoding::PLAIN, None, plain(vec![2.5; values]));
    assert!(check(&[page(5, 5)], 5, false).is_some());
    assert!(check(&[page(5, 5)], 6, false).is_none());
    assert!(ours(file_of(&[page(5, 5)], 4, false)).is_none());
    assert!(ours(file_of(&[page(4, 4), page(1, 1)], 4, false)).is_none());
    assert!(check(&[page(5, 4)], 5, false).is_none());
    assert!(check(&[v2(5, 0, Encoding::PLAIN, vec![10, 1], plain(vec![2.5; 4]))], 5, true).is_none());
    let long = v1(5, Encoding::PLAIN, Some(vec![10, 1]), plain(vec![2.5; 5]));
    if let Page::DataPage { buf, .. } = &long {
        let mut bytes = buf.to_vec();
        bytes[0] = 0xff; // levels that are longer than the page
        let cut = Page::DataPage {
            buf: bytes.into(),
            num_values: 5,
            encoding: Encoding::PLAIN,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics: None,
        };
        assert!(check(&[cut], 5, true).is_none());
    }
}
