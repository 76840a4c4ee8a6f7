//! `info`, `head`, `tail`, `sample`, `rows`.

use crate::support::Room;

#[test]
fn all_formats_hold_the_same_rows() {
    let room = Room::new();
    for name in ["a.ntb", "b.parquet", "c.arrow", "d.csv.gz", "e.csv.zst", "f.tsv", "g.npz"] {
        room.ok(&format!("convert iris.csv {name}"));
        for command in ["tail -n 3 --json", "rows 48..52 --json", "sample -n 4 --seed 3 --json"] {
            let command = format!("{command} --columns 0..4");
            assert_eq!(room.ok(&format!("{command} {name}")), room.ok(&format!("{command} iris.csv")), "{name}");
        }
    }
    for name in ["a.ntb", "b.parquet", "c.arrow", "d.csv.gz", "e.csv.zst", "f.tsv"] {
        let command = "tail -n 2 --where species==versicolor";
        assert_eq!(room.ok(&format!("{command} {name}")), room.ok(&format!("{command} iris.csv")), "{name}");
    }
}

#[test]
fn json_keeps_columns_whose_names_are_repeated() {
    let room = Room::new();
    room.write("t.csv", "a,a,b\n1,2,3\n");
    assert_eq!(room.ok("head --json t.csv"), "{\"a\":1,\"a (column 1)\":2,\"b\":3}\n");
}

#[test]
fn rows_that_are_not_there_are_said_so() {
    let room = Room::new();
    room.ok("convert iris.csv a.ntb");
    let run = room.run("rows 151.. a.ntb");
    assert_eq!((run.code, run.err.as_str()), (2, "error: a.ntb: the file has 150 rows, and none from 151 on\n"));
    assert_eq!(room.ok("rows 149..1000 --json a.ntb").lines().count(), 1);
    assert_eq!(room.ok("head --json -n 0 iris.csv"), "");
    assert_eq!(room.ok("sample -n 1000 --json iris.csv").lines().count(), 150);
    assert!(room.ok("head --where species==rose iris.csv").starts_with("  sepal_length_cm"));
}

#[test]
fn the_first_rows_of_a_large_csv_file_do_not_need_its_end() {
    let room = Room::new();
    let line = format!("1,{}\n", "w".repeat(200));
    let mut text = format!("a,b\n{}", line.repeat((65 << 20) / line.len() + 1));
    text.push_str("1,2,3\n"); // one field too many
    room.write("large.csv", &text);
    assert_eq!(room.ok("head -n 2 --json --columns a large.csv"), "{\"a\":1}\n{\"a\":1}\n");
    let run = room.run("tail -n 2 large.csv");
    assert!(run.code == 3 && run.err.contains("large.csv: line"), "{run:?}");
}

#[test]
fn missing_values_dates_and_words_are_shown_as_such() {
    let room = Room::new();
    room.write("t.csv", "day,city,x\n2024-02-29,\"a,\"\"b\",1\n,Lima,\n2023-01-01,,NaN\n");
    let expected = "\
{\"day\":\"2024-02-29\",\"city\":\"a,\\\"b\",\"x\":1}
{\"day\":null,\"city\":\"Lima\",\"x\":null}
{\"day\":\"2023-01-01\",\"city\":null,\"x\":\"NaN\"}
";
    // A NaN makes the column one of floats.
    assert_eq!(room.ok("head --json --date day t.csv").replace("1.0", "1"), expected);
    let kept =
        room.run_with(&["head", "--json", "--date", "day", "--where", "day > 2023-06-01 or city is missing", "t.csv"]);
    assert_eq!(kept.out.lines().count(), 2, "{kept:?}");
    room.ok("convert --keep-types --date day t.csv t.ntb");
    assert_eq!(room.ok("head --json t.ntb").replace("1.0", "1"), expected);
}

#[test]
fn whole_numbers_keep_all_digits() {
    let room = Room::new();
    room.write("t.csv", "a\n9007199254740993\n-9223372036854775808\n");
    for name in ["t.csv", "t.ntb", "t.parquet", "t.npy", "t.arrow"] {
        if name != "t.csv" {
            room.ok(&format!("convert --quiet t.csv {name}"));
        }
        let json = room.ok(&format!("head --json {name}"));
        assert!(json.contains(":9007199254740993}") && json.contains(":-9223372036854775808}"), "{name}: {json}");
    }
}
