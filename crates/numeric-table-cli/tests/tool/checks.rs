//! What `verify`, `diff`, `info` and `repair` find, and where output goes.

use serde_json::{Value, json};

use crate::support::Room;

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn verify_goes_on_after_a_file_that_is_missing_or_damaged() {
    let room = Room::new();
    room.ok("convert iris.csv a.ntb");
    let mut bytes = room.read("a.ntb");
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    room.write("b.ntb", bytes);
    let words = |run: &crate::support::Run| -> Vec<String> {
        run.out.lines().map(|line| line.split_whitespace().next().unwrap().to_owned()).collect()
    };
    let run = room.run("verify gone.ntb a.ntb b.ntb iris.csv");
    assert_eq!((run.code, words(&run).join(" ")), (3, "unread ok damaged ok".to_owned()), "{run:?}");
    let run = room.run("verify b.ntb a.ntb");
    assert_eq!((run.code, words(&run).join(" ")), (1, "damaged ok".to_owned()), "{run:?}");
    let run = room.run("verify --json gone.ntb a.ntb b.ntb");
    let found = parsed(&run.out);
    assert_eq!((run.code, &found["damaged"], &found["unread"], &found["ok"]), (3, &json!(1), &json!(1), &json!(false)));
    assert_eq!(found["files"][0]["result"], "unread");
}

#[test]
fn a_missing_value_differs_from_nan_where_both_files_can_hold_one() {
    let room = Room::new();
    // Whole numbers, floats and words: three ways to compare.
    for (name, values) in
        [("gaps", "1,0.5,x\n,,\n"), ("nan", "1,0.5,x\nNaN,NaN,x\n"), ("both", "1,0.5,x\n,,\nNaN,NaN,\n")]
    {
        room.write(&format!("{name}.csv"), format!("i,f,w\n{values}"));
    }
    assert_eq!(room.run("diff gaps.csv gaps.csv").code, 0);
    assert_eq!(room.run("diff nan.csv nan.csv").code, 0);
    for options in ["", "--tolerance 0.5 "] {
        for columns in ["0", "1"] {
            let run = room.run(&format!("diff {options}--columns {columns} gaps.csv nan.csv"));
            assert!(run.code == 1 && run.out.starts_with("1 value differs"), "{columns}: {run:?}");
            assert!(run.out.contains("null") && run.out.contains("NaN"), "{run:?}");
        }
        // A table file of one type has NaN for both.
        room.ok("convert --columns 0..2 both.csv both.ntb");
        assert_eq!(room.ok(&format!("diff {options}--columns 0..2 both.csv both.ntb")), "");
        room.ok("convert --keep-types both.csv typed.ntb");
        assert_eq!(room.ok(&format!("diff {options}both.csv typed.ntb")), "");
    }
    room.write("wide.csv", "i\n9007199254740993\nNA\n");
    room.ok("convert --keep-types wide.csv wide.parquet");
    assert_eq!(room.ok("diff wide.csv wide.parquet"), "");
}

#[test]
fn a_missing_shard_is_named_with_its_rows_and_the_remedy() {
    let room = Room::new();
    room.ok("split --rows 50 iris.csv shards");
    std::fs::remove_file(room.path("shards/part-000001.ntb")).unwrap();
    let message = "part-000001.ntb: the file of the rows 50..100 is missing: copy it to this place again";
    let run = room.run("info shards");
    assert!(run.code == 3 && run.err.contains(message) && run.out.contains("150 rows"), "{run:?}");
    assert_eq!(room.run("info --json shards").code, 3);
    let run = room.run("verify shards");
    assert!(run.code == 1 && run.out.contains(message), "{run:?}");
    assert!(run.out.contains("ok       shards/part-000002.ntb"), "{run:?}");
    let run = room.run("repair shards");
    assert!(run.code == 1 && run.out.contains(message), "{run:?}");
    assert!(run.out.contains("without the rows of others"), "{run:?}");
    let run = room.run("repair --manifest --yes shards");
    assert!(run.code == 0 && run.out.contains("a manifest over 2 files was written"), "{run:?}");
    assert!(room.ok("stats shards").starts_with("100 rows"));
    assert!(room.ok("info shards").contains("2 shards"));
}

#[test]
fn one_thing_is_in_the_singular() {
    let room = Room::new();
    room.write("one.csv", "a\n7\n");
    assert!(room.ok("info one.csv").contains("1 row, 1 column\n"));
    assert!(room.ok("convert one.csv one.ntb").starts_with("one.ntb: 1 row, 1 column of i64"));
    assert!(room.ok("stats one.csv").starts_with("1 row\n"));
    assert_eq!(room.ok("split one.csv shards"), "shards: 1 row in 1 shard\n");
    assert_eq!(room.ok("join one.csv two.ntb"), "two.ntb: 1 row of 1 file\n");
    room.write("word.csv", "w\nx\n");
    assert!(room.ok("stats word.csv").contains("1 word: x 1"));
    let run = room.run("rows 2.. one.ntb");
    assert_eq!(run.err, "error: one.ntb: the file has 1 row, and none from 2 on\n");
}

#[test]
fn what_is_not_known_or_not_defined_is_left_out() {
    let room = Room::new();
    room.write("same.csv", "a,b\n1,5\n2,5\n3,5\n");
    let found = parsed(&room.ok("corr --json same.csv"));
    assert_eq!(found["correlation"][0][1], Value::Null, "a constant column has no correlation");
    room.ok("convert iris.csv iris.parquet");
    let info = room.ok("info iris.parquet");
    assert!(info.lines().any(|line| line.ends_with("words")), "the words are not counted: {info}");
}

#[cfg(unix)]
#[test]
fn pipes_are_written_and_not_replaced() {
    let room = Room::new();
    let plain = room.ok("convert iris.csv -");
    for format in ["csv", "ntb", "parquet"] {
        let line = format!("ntable convert --to {format} iris.csv /dev/stdout | cat > out && ntable diff out iris.csv");
        let run = room.shell(&line);
        assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (0, "", ""), "{format}: {run:?}");
    }
    assert_eq!(room.shell("ntable convert iris.csv /dev/stdout").out, plain);
    let run = room.shell("ntable join iris.csv /dev/stdout > joined; cat joined");
    assert_eq!(run.out, plain, "a file that standard output is redirected to stays the same file");
    let run = room.shell("mkfifo pipe; (cat pipe > got & ntable convert iris.csv pipe; wait); cat got");
    assert_eq!((run.out.as_str(), run.err.as_str()), (plain.as_str(), ""));
    let run = room.run("convert --to shards iris.csv /dev/stdout");
    assert!(run.code == 2 && run.err.contains("shards are a folder"), "{run:?}");
}

/// The rows of a Parquet file come in several blocks, and later ones have more words.
#[test]
fn shards_of_words_have_one_type_and_one_set_of_labels() {
    let room = Room::new();
    // A block has 16 MiB: 34,000 rows of a word and 60 numbers. The later words need two bytes for their numbers.
    let names: String = (0..60).map(|column| format!(",x{column}")).collect();
    let mut text = format!("w{names}\n");
    for row in 0..40_000 {
        let word = if row < 36_000 { row % 3 } else { row % 300 };
        text.push_str(&format!("w{word}{}\n", ",1".repeat(60)));
    }
    room.write("words.csv", &text);
    room.ok("convert words.csv words.parquet");
    for command in
        ["split --rows 15000 words.parquet typed", "convert --to shards --rows-per-shard 15000 words.parquet one"]
    {
        room.ok(command);
    }
    for folder in ["typed", "one"] {
        let info = parsed(&room.ok(&format!("info --json {folder}")));
        assert_eq!(info["columns"][0]["categories"].as_array().unwrap().len(), 300, "{folder}");
        assert_eq!(room.ok(&format!("diff words.parquet {folder}")), "");
        assert!(room.ok(&format!("verify {folder}")).contains("its files are those that it lists"));
    }
    // Several files number their words in their own order.
    room.write("a.csv", "w\nb\na\n");
    room.write("b.csv", "w\na\nc\n");
    room.ok("convert a.csv a.parquet");
    room.ok("convert b.csv b.parquet");
    let run = room.run("join --to shards a.parquet b.parquet both");
    assert!(run.code == 2 && run.err.contains("join to CSV or Parquet, and convert that"), "{run:?}");
    room.ok("join a.parquet b.parquet both.parquet");
    room.ok("split --rows 1 both.parquet both");
    let labels = |path: &str| parsed(&room.ok(&format!("info --json {path}")))["columns"][0].clone();
    assert_eq!(labels("both/part-000000.ntb"), labels("both/part-000003.ntb"));
    assert_eq!(room.ok("convert both -"), "w\nb\na\na\nc\n");
}
