//! Tables from CSV files: every element type, what columns become, blocks, threads, options and errors.
//!
//! Writing is in `write`, odd files are in `odd_files`, what is said of mistakes in `mistakes`; that nothing depends on
//! where a file is cut, in the library's own tests.

use std::sync::{Arc, Mutex};

use numeric_table::{
    bf16,
    csv::{CsvColumnKind, CsvHeader, CsvMissing, CsvOptions, CsvSource, CsvWriteOptions},
    dictionary::Categories,
    f16,
    prelude::*,
};
use test_support::bits::{Random, from_bits};
use test_support::tables::{assert_error, shape, values_of};
use test_support::{SmallNumber, for_each_element};

use super::{Table, assert_values, load, numbers, source, written};

#[test]
fn small_numbers_are_read_in_every_element_type() {
    fn check<T: SmallNumber>() {
        let table = numbers::<T>("0,1,2\n3,4,5\n").unwrap();
        assert_eq!((table.shape(), table.data_layout()), (shape(2, 3), DataLayout::RowMajor));
        assert_eq!(table.data_memory_status(), MemoryStatus::InternallyAllocated);
        assert_values(&table, &T::counting(6));
        assert_values(&numbers::<T>("+0, 1.0 ,\"2\"\n30e-1,.4e1,5.\n").unwrap(), &T::counting(6));
        assert_values(&numbers::<T>("127,1270e-1").unwrap(), &[T::small(127); 2]);
    }
    for_each_element!(check);
}

#[test]
fn numbers_become_the_nearest_value() {
    let mut random = Random::new(7);
    let mut texts = Vec::new();
    for _ in 0..3000 {
        let wide = from_bits::<f64>(random.next());
        let value = if random.below(2) == 0 { wide } else { f64::from(random.next() as i32) / 1024.0 };
        if value.is_finite() {
            texts.extend([format!("{value}"), format!("{value:e}"), format!("{value:.25e}"), format!("{value:.3}")]);
        }
    }
    let text = texts.join("\n");
    let policy = |policy| CsvOptions::new().header(CsvHeader::No).policy(policy);
    let table = load::<f64>(&text, policy(ConversionPolicy::Exact)).unwrap();
    assert_values(&table, &texts.iter().map(|text| text.parse().unwrap()).collect::<Vec<f64>>());
    let table = load::<f32>(&text, policy(ConversionPolicy::Saturate)).unwrap();
    assert_values(&table, &texts.iter().map(|text| text.parse().unwrap()).collect::<Vec<f32>>());
    assert_error!(load::<f32>(&text, policy(ConversionPolicy::Checked)), ErrorKind::Text { .. });
}

#[test]
fn limits_of_integers_are_read_exactly_and_not_exceeded() {
    assert_values(&numbers::<u64>("18446744073709551615,0").unwrap(), &[u64::MAX, 0]);
    assert_values(&numbers::<i64>("-9223372036854775808,9223372036854775807").unwrap(), &[i64::MIN, i64::MAX]);
    assert_values(&numbers::<i64>("9007199254740993,9007199254740993.0").unwrap(), &[(1 << 53) + 1; 2]);
    assert_values(&numbers::<i8>("-128,127").unwrap(), &[-128, 127]);
    for (text, policies) in [("128", 2), ("-129", 2), ("1e30", 2), ("nan", 2), ("inf", 2), ("1.5", 1), ("-0.5", 1)] {
        let load = |policy| load::<i8>(text, CsvOptions::new().header(CsvHeader::No).policy(policy));
        let error = load(ConversionPolicy::Exact).unwrap_err();
        assert_eq!(error.to_string(), format!("line 1, column 0: {text:?} is not representable as i8"));
        assert_eq!(load(ConversionPolicy::Checked).is_err(), policies == 2, "{text}");
        let saturated: f64 = text.parse().unwrap();
        assert_values(&load(ConversionPolicy::Saturate).unwrap(), &[saturated as i8]);
    }
}

#[test]
fn halves_are_rounded_once_from_the_decimal() {
    let text = "1.00048828125000000000000000000001,1.00048828125,65504\n";
    let expected = [f16::from_bits(0x3C01), f16::from_bits(0x3C00), f16::MAX];
    assert_values(&numbers::<f16>(text).unwrap(), &expected);
    assert_values(&numbers::<bf16>("1.00390625000000000000000000000001").unwrap(), &[bf16::from_bits(0x3F81)]);
    assert_error!(numbers::<f16>("65520"), ErrorKind::Text { .. });
    let table = load::<f16>("65520,-65520\n", CsvOptions::new().policy(ConversionPolicy::Saturate)).unwrap();
    assert_values(&table, &[f16::INFINITY, f16::NEG_INFINITY]);
}

#[test]
fn columns_are_chosen_by_name_index_and_range() {
    let text = "a,b,c,d\n1,2,3,4\n5,6,7,8\n";
    let select = |options: CsvOptions| load::<i16>(text, options).unwrap();
    let names = |table: &Table<i16>| {
        table.dictionary().iter().map(|feature| feature.name.clone().unwrap()).collect::<Vec<_>>().concat()
    };
    let check = |options: CsvOptions, expected: &str, values: &[i16]| {
        let table = select(options);
        assert_eq!(names(&table), expected);
        assert_values(&table, values);
    };
    let options = CsvOptions::new;
    check(options().columns(..), "abcd", &[1, 2, 3, 4, 5, 6, 7, 8]);
    check(options().columns(["d", "a"]), "da", &[4, 1, 8, 5]);
    check(options().columns([3, 0]), "da", &[4, 1, 8, 5]);
    check(options().columns(1..3), "bc", &[2, 3, 6, 7]);
    check(options().columns(2..), "cd", &[3, 4, 7, 8]);
    check(options().exclude_columns("b").exclude_columns(2), "ad", &[1, 4, 5, 8]);
    check(options().columns(["c", "b"]).exclude_columns("b"), "c", &[3, 7]);
    let none = select(options().exclude_columns(..));
    assert_eq!(none.shape(), shape(2, 0));

    for (wrong, reason) in [
        (options().columns("e"), "no column has the name \"e\"; available names: \"a\", \"b\", \"c\", ..."),
        (options().columns("B"), "no column has the name \"B\"; similar names: \"b\""),
        (options().columns(4), "column 4 was requested, but the file has 4"),
        (options().columns(2..5), "columns 2..5 were requested, but the file has 4"),
        (options().columns([1, 1]), "column 1 was requested twice"),
        (
            options().kind("e", CsvColumnKind::Ordinal),
            "no column has the name \"e\"; available names: \"a\", \"b\", \"c\", ...",
        ),
        (options().categories(0, ["x", "x"]), "a category occurs twice"),
        (options().delimiter(b'"'), "'\"' cannot be both delimiter and quote"),
        (options().delimiter(b'e'), "'e' cannot be the delimiter"),
        (options().delimiter(0xE9), "'é' cannot be the delimiter"),
        (options().comment(b'\n'), "'\\n' cannot be the comment"),
        (options().quote(Some(b' ')), "a space cannot be the quote"),
    ] {
        let error = source(text, wrong).unwrap_err();
        assert_eq!(error.to_string(), format!("invalid CSV option: {reason}"));
    }
    let ambiguous = source("a,a\n1,2\n", options().columns("a")).unwrap_err();
    assert!(ambiguous.to_string().ends_with("columns 0 and 1 both have the name \"a\": give an index"));
    let value = load::<u8>(text, options().missing(CsvMissing::Value(300.0))).unwrap_err();
    assert!(value.to_string().ends_with("u8 does not hold 300, which replaces missing values"), "{value}");
}

#[test]
fn words_become_indices_in_the_order_in_which_they_appear() {
    fn check<T: SmallNumber>() {
        let source = source("size,colour\n1,red\n2,blue\n3, red \n4,\"light, blue\"\n", CsvOptions::new()).unwrap();
        let table = source.load::<T>().unwrap();
        assert_values(&table, &[1, 0, 2, 1, 3, 0, 4, 2].map(T::small));
        let feature = table.dictionary().feature(1).unwrap();
        assert_eq!((feature.feature_type, feature.category_count()), (FeatureType::Categorical, Some(3)));
        assert_eq!(table.feature_type(0).unwrap(), FeatureType::Continuous);
        assert_eq!(source.categories(1).unwrap().unwrap(), ["red", "blue", "light, blue"]);
        assert_eq!(source.categories(0).unwrap(), None);
        assert_error!(source.categories(2), ErrorKind::ColumnOutOfRange { column: 2, column_count: 2 });
        assert_eq!(&source.dictionary(T::TYPE).unwrap(), table.dictionary());
    }
    for_each_element!(check);
}

#[test]
fn kinds_decide_what_columns_become() {
    let text = "grade,code,colour,day\n1,10,red,mon\n3,20,blue,tue\n2,10,red,mon\n";
    let day = CsvColumnKind::custom(|text| match text {
        "mon" => Ok(1.0),
        "tue" => Ok(2.0),
        _ => Err("is no day".to_owned()),
    });
    let options = CsvOptions::new()
        .kind("grade", CsvColumnKind::Ordinal)
        .kind("code", CsvColumnKind::Categorical)
        .kind("colour", CsvColumnKind::OneHot)
        .kind("day", day);
    let source = source(text, options.clone()).unwrap();
    let table = source.load::<f32>().unwrap();
    assert_values(&table, &[1., 0., 1., 0., 1., 3., 1., 0., 1., 2., 2., 0., 1., 0., 1.]);
    let features: Vec<Feature> = table.dictionary().iter().cloned().collect();
    let feature = |name: &str| Feature::new(ElementType::F32).named(name);
    let expected = [
        feature("grade").ordinal(),
        feature("code").categorical(Categories::from_labels(["10", "20"]).unwrap()),
        feature("colour=red").categorical(2),
        feature("colour=blue").categorical(2),
        feature("day"),
    ];
    assert_eq!(features, expected);
    assert_eq!(source.categories(1).unwrap().unwrap(), ["10", "20"]);
    assert_eq!(source.categories(3).unwrap().unwrap(), ["red", "blue"]);
    assert_eq!(source.categories(4).unwrap(), None);

    let error = load::<f32>(&text.replace("tue", "wed"), options.clone()).unwrap_err();
    assert_eq!(error.to_string(), "line 3, column 3 (day): \"wed\" is no day");
    let table = load::<f32>(text, options.columns(["colour", "grade"])).unwrap();
    assert_values(&table, &[1., 0., 1., 0., 1., 3., 1., 0., 2.]);
    let huge = CsvOptions::new().kind(.., CsvColumnKind::custom(|_| Ok(300.0)));
    let error = load::<u8>("a\n1\n", huge).unwrap_err();
    assert_eq!(error.to_string(), "line 2, column 0 (a): \"1\" became 300, which u8 does not hold");
}

#[test]
fn stated_categories_have_the_indices_that_are_stated() {
    let options = CsvOptions::new().categories("level", ["low", "mid", "high"]);
    let table = load::<u8>("level\nhigh\nlow\n", options.clone()).unwrap();
    assert_values(&table, &[2, 0]);
    assert_eq!(table.category_count(0).unwrap(), Some(3));
    let error = load::<u8>("level\nhigh\nnone\n", options.clone()).unwrap_err();
    assert_eq!(error.to_string(), "line 3, column 0 (level): \"none\" is not one of the categories");
    let one_hot = load::<u8>("level\nhigh\nlow\n", options.kind("level", CsvColumnKind::OneHot)).unwrap();
    assert_values(&one_hot, &[0, 0, 1, 1, 0, 0]);
    let wrong = CsvOptions::new().kind(0, CsvColumnKind::Ordinal).categories(0, ["low"]);
    assert_error!(source("level\nlow\n", wrong), ErrorKind::CsvOption { .. });
}

#[test]
fn missing_values_become_what_is_asked_for() {
    let text = "a,b\n1,x\n,y\n3,NA\n5,x\n";
    let with = |missing| load::<f64>(text, CsvOptions::new().missing(missing));
    let nan = f64::NAN;
    assert_values(&with(CsvMissing::Nan).unwrap(), &[1., 0., nan, 1., 3., nan, 5., 0.]);
    assert_values(&with(CsvMissing::SkipRow).unwrap(), &[1., 0., 5., 0.]);
    assert_values(&with(CsvMissing::Value(-1.0)).unwrap(), &[1., 0., -1., 1., 3., -1., 5., 0.]);
    let error = with(CsvMissing::Error).unwrap_err();
    assert_eq!(
        error.to_string(),
        "line 3, column 0 (a): \"\" is missing: `CsvOptions::missing` sets how missing values are treated"
    );
    let error = load::<i32>(text, CsvOptions::new().missing(CsvMissing::Nan)).unwrap_err();
    assert_eq!(error.to_string(), "line 3, column 0 (a): \"\" is missing, and i32 has no NaN");

    let mixed = CsvOptions::new().missing(CsvMissing::SkipRow).missing_in("a", CsvMissing::Value(9.0));
    assert_values(&load::<f64>(text, mixed).unwrap(), &[1., 0., 9., 1., 5., 0.]);
    let one_hot = CsvOptions::new().missing(CsvMissing::Value(0.0)).kind("b", CsvColumnKind::OneHot);
    assert_values(&load::<u8>(text, one_hot).unwrap(), &[1, 1, 0, 0, 0, 1, 3, 0, 0, 5, 1, 0]);
    let texts = CsvOptions::new().missing_texts(["-999", "nan", "x"]).missing(CsvMissing::Value(0.0));
    let numbers = "-999,1\n\"-999\",nan\nx,-999.0\n";
    assert_values(&load::<i16>(numbers, texts).unwrap(), &[0, 1, 0, 0, 0, -999]);
    // A column that nobody looks at may have gaps.
    assert_values(
        &load::<f64>(text, CsvOptions::new().columns("a").missing(CsvMissing::SkipRow)).unwrap(),
        &[1., 3., 5.],
    );
}

#[test]
fn a_row_that_is_left_out_says_nothing_about_its_columns() {
    let options = CsvOptions::new().missing(CsvMissing::SkipRow).header(CsvHeader::Yes);
    let source = source("a,b,c\nword,NA,\n1,2,x\n3,NA,y\n4,5,z\n", options).unwrap();
    let table = source.load::<f32>().unwrap();
    assert_values(&table, &[1., 2., 0., 4., 5., 1.]);
    assert_eq!(source.categories(0).unwrap(), None);
    assert_eq!(source.categories(2).unwrap().unwrap(), ["x", "z"]);
    let all = load::<f32>("a\nNA\nNA\n", CsvOptions::new().missing(CsvMissing::SkipRow)).unwrap();
    assert_eq!(all.shape(), shape(0, 1));
}

#[test]
fn blocks_hold_the_rows_of_the_whole_table() {
    let mut text = "n,word\n".to_owned();
    for row in 0..57 {
        text += &format!("{row}.5,{}\n", ["red", "blue", "\"a\nb\""][row % 5 % 3]);
    }
    let source = source(&text, CsvOptions::new()).unwrap();
    let whole = values_of(&source.load::<f32>().unwrap());
    for size in (1..60).chain([usize::MAX]) {
        let (mut blocks, mut next) = (source.row_blocks::<f32>(size).unwrap(), 0_usize);
        let mut address = None;
        while let Some(block) = blocks.next_block().unwrap() {
            assert_eq!(block.row_range(), next..57.min(next.saturating_add(size)));
            assert_eq!(block[..], whole[2 * next..2 * block.row_range().end]);
            assert_eq!(*address.get_or_insert(block.as_ptr()), block.as_ptr(), "one buffer");
            next = block.row_range().end;
        }
        assert_eq!(next, 57);
        assert!(blocks.next_block().unwrap().is_none());
    }
    assert_error!(source.row_blocks::<f32>(0), ErrorKind::ParameterOutOfRange { .. }, "rows of a block");
}

#[test]
fn an_error_in_a_block_stays_an_error() {
    let source = source("1,2\n3,4\n5,6\n7,8,9\n10,11\n", CsvOptions::new()).unwrap();
    let expected = "line 4: \"7,8,9\" has 3 fields, not 2";
    assert_eq!(source.load::<u8>().unwrap_err().to_string(), expected);
    for size in 1..6 {
        let mut blocks = source.row_blocks::<u8>(size).unwrap();
        let mut rows = 0;
        let error = loop {
            match blocks.next_block() {
                Ok(block) => rows += block.unwrap().row_range().len(),
                Err(error) => break error,
            }
        };
        assert_eq!((error.to_string().as_str(), rows), (expected, 3 / size * size));
        assert_eq!(blocks.next_block().unwrap_err().to_string(), expected);
    }
}

/// About 3 MB with everything that makes cutting difficult.
fn large_text() -> String {
    let mut random = Random::new(11);
    let mut text = "x,word,y\n".to_owned();
    for row in 0..60_000 {
        let word = match random.below(40) {
            0 => format!("\"line {row}\nend\""),
            1 => "\"say \"\"so\"\"\"".to_owned(),
            2 => "half \"quoted\"".to_owned(),
            _ => format!("word{}", random.below(300)),
        };
        let end = ["\n", "\r\n", "\n\n"][random.below(40).saturating_sub(37)];
        text += &format!("{},{word},{}{end}", random.next() as i32, f64::from(random.next() as u32) / 8.0);
    }
    text
}

#[test]
fn neither_threads_nor_the_place_of_the_text_decide_anything() {
    let text = large_text();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large.csv");
    std::fs::write(&path, &text).unwrap();
    let mut broken = text.clone();
    broken.insert_str(text.len() / 3 * 2, "\n1,2\n");
    broken.insert(text.len() - 20, ',');
    let expected = source(&text, CsvOptions::new()).unwrap();
    let table = expected.load::<f64>().unwrap();
    assert_eq!(table.row_count(), 60_000);
    let broken_message = load::<f64>(&broken, CsvOptions::new()).unwrap_err().to_string();
    let check = || {
        let file = CsvSource::open(&path).unwrap();
        assert_eq!(file.load::<f64>().unwrap(), table);
        assert_eq!(file.categories(1).unwrap(), expected.categories(1).unwrap());
        let read = CsvSource::from_reader(std::fs::File::open(&path).unwrap()).unwrap();
        assert_eq!(read.load::<f64>().unwrap(), table);
        assert_eq!(load::<f64>(&broken, CsvOptions::new()).unwrap_err().to_string(), broken_message);
        let skipped = CsvOptions::new().missing_texts(["word7"]).missing(CsvMissing::SkipRow).columns(["y", "word"]);
        source(&text, skipped).unwrap().load::<f32>().unwrap()
    };
    let skipped = check();
    assert!(skipped.row_count() > 55_000 && skipped.row_count() < 60_000);
    #[cfg(feature = "rayon")]
    for threads in [1, 2, 7] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        assert_eq!(pool.install(check), skipped);
    }
    let file = CsvSource::open(&path).unwrap();
    let (mut blocks, mut rows) = (file.row_blocks::<f64>(1777).unwrap(), 0);
    while let Some(block) = blocks.next_block().unwrap() {
        assert_eq!(block[..], table.as_slice().unwrap()[3 * rows..3 * block.row_range().end]);
        rows = block.row_range().end;
    }
    assert_eq!(rows, 60_000);

    // Written by several threads, and read back.
    let mut copies = Vec::new();
    let write = || written(&table, CsvWriteOptions::new().categories(1, expected.categories(1).unwrap().unwrap()));
    copies.push(write());
    #[cfg(feature = "rayon")]
    copies.push(rayon::ThreadPoolBuilder::new().num_threads(7).build().unwrap().install(write));
    assert!(copies.iter().all(|copy| *copy == copies[0]));
    assert_eq!(load::<f64>(&copies[0], CsvOptions::new()).unwrap(), table);
}

#[test]
fn progress_is_told_in_bytes_of_the_file() {
    let told = Arc::new(Mutex::new(Vec::new()));
    let hook = {
        let told = told.clone();
        move |progress: numeric_table::files::Progress| told.lock().unwrap().push(progress)
    };
    let mut text = "a,b\n".to_owned();
    (0..200_000).for_each(|row| text += &format!("{row},1.5\n"));
    let length = text.len() as u64 - 4;
    let source = source(&text, CsvOptions::new()).unwrap().on_progress(hook);
    let check = |least: usize| {
        let told = std::mem::take(&mut *told.lock().unwrap());
        assert!(told.len() >= least && told.is_sorted_by_key(|progress| progress.done));
        assert!(told.iter().all(|progress| progress.total == Some(length)));
        assert_eq!((told[0].done, told.last().unwrap().done), (0, length));
    };
    source.load::<f64>().unwrap();
    check(4);
    let mut blocks = source.row_blocks::<f64>(10_000).unwrap();
    while blocks.next_block().unwrap().is_some() {}
    check(20);
}

#[test]
fn no_memory_is_taken_for_rows_that_are_not_there() {
    // Ten thousand columns and a million rows of one field: 80 GB, if one believed it.
    let mut text = vec!["x"; 10_000].join(",");
    text += &"\n1".repeat(1_000_000);
    let source = source(&text, CsvOptions::new()).unwrap();
    assert_eq!(source.load::<f64>().unwrap_err().to_string(), "line 2: \"1\" has 1 field, not 10000");
}

#[test]
fn files_that_cannot_be_read_say_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("none.csv");
    assert!(
        CsvSource::open(&path)
            .is_err_and(|error| matches!(error.kind(), ErrorKind::Io { .. }) && error.path().unwrap() == path)
    );
    assert_error!(CsvSource::open(folder.path()), ErrorKind::Io { .. });
    std::fs::write(&path, "1,2\n3,4\n").unwrap();
    let source = CsvSource::open(&path).unwrap();
    std::fs::write(&path, "1,2\n").unwrap(); // shorter than it was
    assert_error!(source.load::<f64>(), ErrorKind::Io { .. });
    struct Broken;
    impl std::io::Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("broken"))
        }
    }
    assert_eq!(CsvSource::from_reader(Broken).unwrap_err().to_string(), "the stream failed: broken");
}

#[test]
fn a_file_that_changes_while_it_is_read_is_an_error_or_another_table() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("changing.csv");
    std::fs::write(&path, "1,2\n3,4\n5,6\n").unwrap();
    for changed in
        ["1,2,3,4,5,6\n", "\n\n\n\n\n\n\n\n\n\n\n\n", "1,2\n3,4\n5,x\n", "1\n2\n3\n4\n5\n6\n", "\"1,2\n3,4\n5,6"]
    {
        let source = CsvSource::open(&path).unwrap();
        let length = source.load::<f64>().unwrap().row_count();
        std::fs::write(&path, changed).unwrap();
        assert_error!(source.load::<f64>(), ErrorKind::Text { .. }); // the rows have been counted before
        std::fs::write(&path, "1,2\n3,4\n5,6\n").unwrap();
        assert_eq!(length, 3);
    }
}

#[test]
fn load_any_returns_the_type_that_is_asked_for() {
    for &element_type in ElementType::ALL {
        let options = CsvOptions::new().element_type(element_type);
        let table = source("1,2\n", options).unwrap().load_any().unwrap();
        assert_eq!((table.uniform_type(), table.value::<u8>(0, 1).unwrap()), (Some(element_type), 2));
    }
    let table = source("1\n", CsvOptions::new()).unwrap().load_any().unwrap();
    assert_eq!(table.uniform_type(), Some(ElementType::F64));
}
