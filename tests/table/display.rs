//! Tables as text: whole expected outputs.

use numeric_table::table::by_ref;
use numeric_table::{
    AosNumericTable, CsrNumericTable, PackedSymmetricMatrix, PackedTriangularMatrix, RowMergedNumericTable,
    SoaNumericTable, bf16,
    dictionary::Categories,
    f16, impl_record,
    prelude::*,
    table::{BorrowedTable, BorrowedTableMut, TableView, Triangle},
};
use test_support::tables::{LAYOUTS, huge, numbered, shape};
use test_support::{SmallNumber, for_each_element};

type Table<T> = HomogenNumericTable<T>;

/// Compares with a text that begins after a line end, so that it can be read.
#[track_caller]
fn assert_text(found: impl std::fmt::Display, expected: &str) {
    let found = found.to_string();
    assert_eq!(found, &expected[1..], "\n{found}\n");
    assert!(found.lines().all(|line| line == line.trim_end()), "spaces at the end of a line");
}

fn described<T: Element>(mut table: Table<T>, features: impl IntoIterator<Item = Feature>) -> Table<T> {
    table.set_dictionary(DataDictionary::from_features(features)).unwrap();
    table
}

/// `rows x columns`, each value its number.
fn counted(rows: usize, columns: usize) -> Table<u32> {
    Table::from_array((0..(rows * columns) as u32).collect::<Vec<_>>(), shape(rows, columns)).unwrap()
}

#[test]
fn categories_with_words_show_them_and_other_values_stay_numbers() {
    let words = Categories::from_labels(["red", "light\u{202E}\nblue", &"long ".repeat(9)]).unwrap();
    let feature = Feature::new(ElementType::F32).named("colour").categorical(words);
    let table = Table::from_rows(&[[0.0_f32], [1.0], [2.0], [3.0], [0.5], [-1.0], [f32::NAN]]).unwrap();
    let table = described(table, [feature]);
    let text = "
7 x 1 f32, row major
                     colour
               3 categories
0                       red
1       light\\u{202e}\\nblue
2  long long long long l...
3                       3.0
4                       0.5
5                      -1.0
6                       NaN";
    assert_text(&table, text);
}

#[test]
fn a_table_shows_shape_type_names_kinds_and_values() {
    let feature = Feature::new(ElementType::F64);
    let table = described(
        Table::from_rows(&[[5.1, 1.0, 2.0, 0.0], [4.9, f64::NAN, 10.0, 1.0], [6.25, f64::NEG_INFINITY, 0.0, 2.0]])
            .unwrap(),
        [
            feature.clone().named("length"),
            feature.clone(),
            feature.clone().named("grade").ordinal(),
            feature.named("species").categorical(3),
        ],
    );
    let text = "
3 x 4 f64, row major
   length     1    grade       species
                 ordinal  3 categories
0    5.10   1.0        2             0
1    4.90   NaN       10             1
2    6.25  -inf        0             2";
    assert_text(&table, text);
    assert_text(&table as &dyn NumericTable, text);
    assert_text(Box::new(table.clone()) as Box<dyn NumericTable>, text);
    assert_text(table.to_layout(DataLayout::ColumnMajor).unwrap(), &text.replace("row major", "column major"));
    assert_text(
        table.view().unwrap().slice_columns(0..2).unwrap(),
        "
3 x 2 f64
      0     1
0  5.10   1.0
1  4.90   NaN
2  6.25  -inf",
    );
}

#[test]
fn every_element_type_is_shown() {
    fn check<T: SmallNumber>() {
        for layout in LAYOUTS {
            let table = numbered::<T>(2, 3, layout);
            let rows = if T::TYPE.is_float() {
                "     0    1    2\n0  1.0  2.0  3.0\n1  4.0  5.0  6.0"
            } else {
                "   0  1  2\n0  1  2  3\n1  4  5  6"
            };
            assert_eq!(table.to_string(), format!("2 x 3 {}, {layout}\n{rows}", T::TYPE));
        }
    }
    for_each_element!(check);
    let large = Table::from_rows(&[[i64::MIN], [(1 << 53) + 1]]).unwrap();
    assert_text(
        &large,
        "
2 x 1 i64, row major
                      0
0  -9223372036854775808
1      9007199254740993",
    );
}

#[test]
fn half_precision_has_no_digits_that_it_does_not_hold() {
    let table = Table::from_rows(&[[0.1, 65504.0].map(f16::from_f32)]).unwrap();
    assert_text(&table, "\n1 x 2 f16, row major\n           0        1\n0  0.0999756  65504.0");
    let table = Table::from_rows(&[[0.1, 3e38].map(bf16::from_f32)]).unwrap();
    assert_text(&table, "\n1 x 2 bf16, row major\n          0           1\n0  0.100098  3.00406e38");
}

#[test]
fn rows_in_the_middle_are_left_out() {
    assert_text(
        counted(1000, 2),
        "
1000 x 2 u32, row major
        0     1
0       0     1
1       2     3
2       4     5
3       6     7
4       8     9
...   ...   ...
995  1990  1991
996  1992  1993
997  1994  1995
998  1996  1997
999  1998  1999",
    );
    assert_text(counted(3, 1).display().max_rows(2), "\n3 x 1 u32, row major\n       0\n0      0\n...  ...\n2      2");
    assert_text(counted(3, 1).display().max_rows(1), "\n3 x 1 u32, row major\n       0\n0      0\n...  ...");
    assert_text(counted(3, 1).display().max_rows(0), "\n3 x 1 u32, row major\n       0\n...  ...");
    assert_eq!(counted(10, 1).to_string().lines().count(), 2 + 10);
    assert_eq!(counted(11, 1).to_string().lines().count(), 2 + 5 + 1 + 5);
    assert_eq!(format!("{:#}", counted(300, 1)).lines().count(), 2 + 300);
}

#[test]
fn columns_in_the_middle_are_left_out_so_that_lines_are_not_too_long() {
    assert_text(
        counted(2, 100).display().width(40),
        "
2 x 100 u32, row major
     0    1    2  ...   97   98   99
0    0    1    2  ...   97   98   99
1  100  101  102  ...  197  198  199",
    );
    for width in 0..120 {
        let text = format!("{:width$}", counted(2, 30));
        let longest = text.lines().skip(1).map(|line| line.chars().count()).max().unwrap();
        assert!(longest <= width.max(if width < 16 { 12 } else { 0 }), "{width}: {text}");
    }
    assert_text(counted(1, 4).display().width(13), "\n1 x 4 u32, row major\n   0  1  2  3\n0  0  1  2  3");
    assert_text(counted(1, 4).display().width(12), "\n1 x 4 u32, row major\n   0  ...  3\n0  0  ...  3");
    assert_text(counted(1, 4).display().width(1), "\n1 x 4 u32, row major\n   0  ...\n0  0  ...");
    assert_eq!(format!("{:#}", counted(1, 100)).lines().nth(2).unwrap().split_whitespace().count(), 101);
    // Only what is shown is looked at.
    let wide = Table::<u8>::full(shape(2, 50_000_000), 1).unwrap();
    assert_eq!(wide.to_string().lines().count(), 4);
    assert!(wide.to_string().lines().all(|line| line.chars().count() <= 80));
}

#[test]
fn flags_of_the_format_are_obeyed() {
    let table = Table::from_rows(&[[1.0, 22.456], [0.125, 3.0]]).unwrap();
    assert_text(format!("{table:.2}"), "\n2 x 2 f64, row major\n      0      1\n0  1.00  22.46\n1  0.12   3.00");
    assert_text(format!("{table:7.0}"), "\n2 x 2 f64, row major\n   0  ...\n0  1  ...\n1  0  ...");
    let text = "\n2 x 2 f64, row major\n     0     1\n0  1.0  22.5\n1  0.1   3.0";
    assert_text(table.display().precision(1), text);
    assert_text(format!("{:.1}", table.display().precision(9)), text);
}

#[test]
fn tables_without_values_say_so() {
    let empty = described(
        Table::<f32>::new(shape(3, 2), AllocationFlag::DoNotAllocate).unwrap(),
        ["a", "b"].map(|name| Feature::new(ElementType::F32).named(name)),
    );
    assert_text(&empty, "\n3 x 2 f32, row major, not allocated\n  a  b");
    assert_text(Table::<f32>::default(), "\n0 x 0 f32, row major");
    assert_text(Table::<u8>::full(shape(0, 3), 1).unwrap(), "\n0 x 3 u8, row major\n  0  1  2");
    assert_text(Table::<u8>::full(shape(3, 0), 1).unwrap(), "\n3 x 0 u8, row major");
    assert_text(TableView::<u8>::new(&[], shape(0, 0), DataLayout::RowMajor).unwrap(), "\n0 x 0 u8");
}

#[test]
fn a_leased_table_says_so_and_shows_its_values_again_afterwards() {
    let mut table = counted(3, 1);
    let mut block = BlockDescriptor::<u32>::new();
    table.get_block_of_rows(1, 2, ReadWriteMode::ReadWrite, &mut block).unwrap();
    assert_text(&table, "\n3 x 1 u32, row major\n  0\n(a writable block of rows 1..3 is outstanding)");
    table.release_block_of_rows(&mut block).unwrap();
    assert_text(&table, "\n3 x 1 u32, row major\n   0\n0  0\n1  1\n2  2");
}

#[test]
fn names_do_no_harm_to_a_terminal_and_are_not_long() {
    let feature = Feature::new(ElementType::U8);
    let names = ["länge", "\x1b[31mred", "two\nlines", "turned\u{202E}", &"x".repeat(100_000), ""];
    let table = described(Table::full(shape(1, 6), 7_u8).unwrap(), names.map(|name| feature.clone().named(name)));
    assert_text(
        table.display().width(120),
        "
1 x 6 u8, row major
   länge  \\u{1b}[31mred  two\\nlines  turned\\u{202e}  xxxxxxxxxxxxxxxxxxxxx...
0      7              7           7               7                         7  7",
    );
}

#[test]
fn more_decimals_than_any_number_has_do_not_panic() {
    for value in [1.5, 5e-324, 1.5e300, 0.0] {
        let table = Table::from_rows(&[[value]]).unwrap();
        let text = table.display().precision(1074).to_string();
        assert_eq!(table.display().precision(usize::MAX).to_string(), text);
        assert_eq!(text.lines().last().unwrap()[3..].parse::<f64>().unwrap(), value);
    }
}

/// Formatting takes no more than 65,535 spaces at once.
#[test]
fn a_kind_that_stands_far_to_the_right_does_not_panic() {
    let mut features = vec![Feature::new(ElementType::U8); 20_000];
    features[19_999] = Feature::new(ElementType::U8).categorical(3);
    let table = described(Table::full(shape(1, 20_000), 7_u8).unwrap(), features);
    let text = format!("{table:#}");
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[2].len() > 65_535 && lines[2].trim_start() == "3 categories");
    assert!(lines[1..].iter().all(|line| line.len() == lines[1].len()));
}

#[test]
fn names_of_wide_characters_stand_above_their_columns() {
    let feature = Feature::new(ElementType::U8);
    let names = ["身長", "e\u{301}te\u{301}", "長".repeat(13).as_str(), "\u{61C}x", "so\u{AD}ft", "\u{E0041}"]
        .map(|name| feature.clone().named(name));
    let table = described(Table::full(shape(1, 6), 7_u8).unwrap(), names);
    let text = format!("{table:#}");
    let expected = "
1 x 6 u8, row major
   身長  e\u{301}te\u{301}  長長長長長長長長長長...  \\u{61c}x  so\\u{ad}ft  \\u{e0041}
0     7    7                        7         7           7          7";
    assert_text(text, expected);
    // 長 takes two places: one more column would not fit.
    let table = described(
        Table::full(shape(1, 3), 7_u8).unwrap(),
        ["長長", "長長", "長長"].map(|name| feature.clone().named(name)),
    );
    assert_text(table.display().width(18), "\n1 x 3 u8, row major\n   長長  ...  長長\n0     7  ...     7");
    assert_text(table.display().width(19), "\n1 x 3 u8, row major\n   長長  長長  長長\n0     7     7     7");
}

#[test]
fn everything_of_a_table_that_nobody_could_look_at_is_a_part_of_it() {
    let wide = Shape { rows: 0, columns: huge(60) };
    let wide = HomogenNumericTable::<f64>::new(wide, AllocationFlag::DoAllocate).unwrap();
    assert!(format!("{wide:#}").len() < 3 << 20);
    let long = HomogenNumericTable::<u8>::new(Shape { rows: 1 << 22, columns: 1 }, AllocationFlag::DoAllocate).unwrap();
    assert_eq!(format!("{long:#}").lines().count(), 2 + (1 << 20) + 1);
}

#[test]
fn however_much_is_asked_for_work_and_text_have_a_limit() {
    let wide = Table::<f64>::new(shape(0, huge(62)), AllocationFlag::DoNotAllocate).unwrap();
    assert!(wide.display().width(usize::MAX).to_string().len() < 3 << 20);
    assert!(wide.display().width(usize::MAX).max_rows(usize::MAX).precision(usize::MAX).to_string().len() < 3 << 20);
    let long = Table::<u8>::new(shape(usize::MAX, 0), AllocationFlag::DoNotAllocate).unwrap();
    let text = long.display().max_rows(usize::MAX).width(usize::MAX).to_string();
    assert_eq!(text, format!("{} x 0 u8, row major, not allocated", usize::MAX));

    let long = Table::<u8>::new(shape(1 << 22, 1), AllocationFlag::DoAllocate).unwrap();
    assert_eq!(long.display().max_rows(usize::MAX).to_string().lines().count(), 2 + (1 << 20) + 1);
    // Ten numbers at least of every column that is shown, however many decimals they have.
    let exact = Table::<f64>::full(shape(1 << 20, 1), 0.5).unwrap();
    let text = exact.display().max_rows(usize::MAX).precision(usize::MAX).to_string();
    assert!(text.len() < 32 << 20 && text.lines().count() > 10_000);
    assert_eq!(exact.display().max_rows(1 << 20).precision(2).to_string().lines().count(), 2 + (1 << 20));
    // What is asked for and below the limit is what is shown.
    let both = Table::<u8>::full(shape(5000, 26), 1).unwrap();
    assert_eq!(both.display().max_rows(5000).to_string().lines().count(), 2 + 5000);
    assert_eq!(both.display().max_rows(usize::MAX).width(usize::MAX).to_string().lines().count(), 2 + 5000);
}

#[test]
fn tables_of_every_kind_print_themselves() {
    #[derive(Clone, Copy)]
    struct Pair {
        a: f32,
        b: f32,
    }
    impl_record!(Pair { a, b });
    let values = [2.5_f32, 0.0, 0.0, 4.0];
    let dense = Table::from_array(values.to_vec(), shape(2, 2)).unwrap();
    let (mut written, other) = (values, by_ref(&dense));
    let tables: [&dyn std::fmt::Display; 9] = [
        &dense,
        &SoaNumericTable::from_columns([("0", vec![2.5_f32, 0.0]), ("1", vec![0.0, 4.0])]).unwrap(),
        &AosNumericTable::from_records(vec![Pair { a: 2.5, b: 0.0 }, Pair { a: 0.0, b: 4.0 }]).unwrap(),
        &CsrNumericTable::from_dense::<f32>(&dense).unwrap(),
        &PackedSymmetricMatrix::from_full(&dense, Triangle::Lower, DataLayout::RowMajor).unwrap(),
        &PackedTriangularMatrix::from_full(&dense, Triangle::Upper, DataLayout::ColumnMajor).unwrap(),
        &RowMergedNumericTable::new([other]).unwrap(),
        &BorrowedTable::new(&values, shape(2, 2)).unwrap(),
        &BorrowedTableMut::new(&mut written, shape(2, 2)).unwrap(),
    ];
    for table in tables {
        let text = table.to_string();
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].starts_with("2 x 2 f32"), "{text}");
        match lines[0].contains("sparse") {
            true => assert_eq!(lines[2..], ["0  2.5    .", "1    .  4.0"], "{text}"), // which stores no zeros
            false => assert_eq!(lines[2..], ["0  2.5  0.0", "1  0.0  4.0"], "{text}"),
        }
    }
}

#[test]
fn a_sparse_table_shows_which_values_it_stores() {
    let (offsets, indices) = (vec![0, 2, 2], vec![0, 2]);
    let table = CsrNumericTable::try_new(shape(2, 4), offsets, indices, vec![1.5_f32, 0.0]).unwrap();
    assert_text(
        &table,
        "\n2 x 4 f32, sparse, 2 values stored\n     0  1    2  3\n0  1.5  .  0.0  .\n1    .  .    .  .",
    );
}
