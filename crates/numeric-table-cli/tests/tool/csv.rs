//! The options for reading CSV files, and the messages about such files.

use crate::support::Room;

#[test]
fn every_command_that_reads_files_has_the_same_options_for_reading() {
    let room = Room::new();
    let options = ["--from", "--array", "--delimiter", "--decimal", "--header", "--no-header", "--missing", "--date"];
    let options = options.into_iter().chain(["--time", "--words", "--infer-rows"]);
    let commands = "info head tail sample rows stats corr convert verify diff split join bench";
    for command in commands.split(' ') {
        let help = room.ok(&format!("{command} --help"));
        for option in options.clone() {
            assert!(help.contains(&format!(" {option}")), "{command} has {option}");
        }
    }
}

#[test]
fn a_word_among_numbers_names_an_option_that_each_command_has() {
    let room = Room::new();
    room.write("ids.csv", "id,x\n007,1\nA12,2\n");
    let commands = [
        "info ids.csv",
        "head ids.csv",
        "stats ids.csv",
        "convert ids.csv -",
        "verify ids.csv",
        "diff ids.csv ids.csv",
        "split ids.csv folder",
        "join ids.csv ids.csv out.csv",
    ];
    for command in commands {
        let run = room.run(command);
        let text = format!("{}{}", run.out, run.err);
        assert!(text.contains("`--words id` reads the column as words"), "{command}: {run:?}");
        let run = room.run(&format!("{command} --words id"));
        assert_eq!((run.code, run.err.as_str()), (0, ""), "{command}: {run:?}");
    }
    assert_eq!(room.ok("convert --words id ids.csv -"), "id,x\n007,1\nA12,2\n");
    assert_eq!(room.read("out.csv"), b"id,x\n007,1\nA12,2\n007,1\nA12,2\n");
    // Numbers and patterns choose columns too, also in files without names.
    room.write("bare.csv", "007,x1\nA12,x2\n");
    for columns in ["0", "*", "0..1"] {
        let kept = room.ok(&format!("convert --no-header --words {columns} bare.csv -"));
        assert_eq!(kept, "007,x1\nA12,x2\n", "{columns}");
    }
    let run = room.run("info --words nmae ids.csv");
    assert!(run.code == 2 && run.err.contains("--words: no column is called \"nmae\""), "{run:?}");
}

#[test]
fn numbers_are_names_if_the_user_says_so() {
    let room = Room::new();
    room.write("years.csv", "2023,2024\n1,2\n");
    assert_eq!(room.ok("head --json years.csv").lines().count(), 2);
    assert_eq!(room.ok("head --json --header years.csv"), "{\"2023\":1,\"2024\":2}\n");
    let run = room.run("head --header --no-header years.csv");
    assert_eq!(run.code, 2, "{run:?}");
}

#[test]
fn options_that_nothing_uses_are_refused() {
    let room = Room::new();
    room.ok("convert --columns 0..4 iris.csv a.ntb");
    let refused = [
        ("head --delimiter ; a.ntb", "--delimiter is for CSV input, and the format of a.ntb is ntb"),
        ("verify --header a.ntb", "--header is for CSV input"),
        ("info --array x iris.csv", "--array is for .npz input"),
        ("convert --rows-per-shard 3 iris.csv b.ntb", "--rows-per-shard has no effect"),
        ("convert --label species iris.csv b.ntb", "--label has no effect"),
        ("convert --compression zstd iris.csv b.csv", "--compression has no effect"),
        ("convert --keep-types a.ntb b.npy", "--keep-types has no effect"),
        ("stats --by species --quantiles 0.5 iris.csv", "cannot be used with"),
        ("head --infer-rows 0 iris.csv", "--infer-rows needs at least 1"),
        ("head --delimiter ;; iris.csv", "--delimiter needs one character"),
    ];
    for (command, message) in refused {
        let run = room.run(command);
        assert!(run.code == 2 && run.err.contains(message), "{command}: {run:?}");
    }
    assert_eq!(room.ok("diff --delimiter , a.ntb iris.csv --columns 0"), "", "one of the files is CSV");
    // A type is used for text too.
    let run = room.run("convert --type u8 --policy saturate --columns 0 iris.csv b.csv");
    assert!(run.code == 0 && run.err.starts_with("warning: 133 rounded"), "{run:?}");
    assert!(room.read("b.csv").starts_with(b"sepal_length_cm\n5\n"));
}

#[test]
fn blank_lines_of_one_column_are_said_to_be_left_out() {
    let room = Room::new();
    room.write("gaps.csv", "a\n1\n\n3\n");
    let run = room.run("convert gaps.csv gaps.ntb");
    let note = "note: gaps.csv: 1 blank line is not a row (the first is line 3): in a file of one column, a missing value \
                is written as NA\n";
    assert_eq!((run.code, run.err.as_str()), (0, note), "{run:?}");
    assert_eq!(room.run("convert --quiet gaps.csv gaps.ntb").err, "");
    room.write("na.csv", "a\n1\nNA\n3\n");
    room.ok("convert --keep-types na.csv na.ntb");
    assert_eq!(room.ok("convert na.ntb -"), "a\n1\nNA\n3\n", "the row of a missing value is kept");
    room.ok("convert na.csv na.csv.gz");
    assert_eq!(room.ok("diff na.csv na.csv.gz"), "");
    let run = room.shell("ntable convert gaps.csv.gz - < gaps.csv; gzip -k gaps.csv; ntable info gaps.csv.gz");
    assert!(run.err.contains("gaps.csv.gz: 1 blank line"), "{run:?}");
    room.write("two.csv", "a\n1\n\n\n3\n");
    let run = room.run("convert two.csv two.ntb");
    assert!(run.err.contains("two.csv: 2 blank lines are not rows (the first is line 3)"), "{run:?}");
    // What only the note reads does not fail a command.
    room.write("long.csv", format!("a\n{}", "1\n".repeat(300_000)));
    let run = room.shell("gzip -k long.csv; head -c $(($(stat -c %s long.csv.gz) - 4)) long.csv.gz > cut.csv.gz");
    assert_eq!(run.code, 0, "{run:?}");
    let codes = ["", "--quiet "].map(|quiet| room.run(&format!("head {quiet}--infer-rows 5 cut.csv.gz")).code);
    assert_eq!(codes[0], codes[1]);
}

#[test]
fn files_without_names_get_no_header() {
    let room = Room::new();
    for name in ["a.npy", "a.mtx"] {
        let run = room.run(&format!("convert --columns 0..2 iris.csv {name}"));
        let note =
            format!("note: {name}: the names of the columns are lost, because the format {} has none\n", &name[2..]);
        assert_eq!((run.code, run.err), (0, note));
        assert!(room.ok(&format!("convert {name} -")).starts_with("5.1,3.5\n4.9,3\n"), "{name}");
        assert_eq!(room.run(&format!("convert --quiet --columns 0..2 iris.csv {name}")).err, "");
    }
}

#[test]
fn messages_about_other_files_name_the_remedy() {
    let room = Room::new();
    room.write("semicolons.csv", "a;b\n1,5;2\n2,5;3\n");
    room.write("points.csv", "a;b\n1.5;2\n2.5;3\n");
    room.write("latin.csv", b"name,x\nM\xfcller,1\n");
    room.write("latin-header.csv", b"gr\xf6\xdfe,x\n1,1\n");
    room.write("huge.csv", "a,b\n1e400,1\n");
    let cases = [
        ("points.csv", "`--delimiter` with ';' splits them into fields"),
        ("semicolons.csv", "`--delimiter ';'` sets what separates fields, and `--decimal ,` reads"),
        ("latin.csv", "`iconv -f LATIN1 -t UTF-8`"),
        ("latin-header.csv", "`iconv -f LATIN1 -t UTF-8`"),
        ("huge.csv", "`--missing 1e400` makes it a missing value"),
    ];
    for (name, message) in cases {
        let run = room.run(&format!("stats {name}"));
        assert!(run.code == 3 && run.err.contains(name) && run.err.contains("line "), "{run:?}");
        assert!(run.err.contains(message), "{run:?}");
    }
    assert_eq!(room.ok("convert --delimiter ; points.csv -"), "a,b\n1.5,2\n2.5,3\n");
    assert_eq!(room.ok("convert --delimiter ; --decimal , semicolons.csv -"), "a,b\n1.5,2\n2.5,3\n");
    assert_eq!(room.ok("convert --missing 1e400 huge.csv -"), "a,b\n,1\n");
}

#[test]
fn an_empty_compressed_file_is_damage_and_not_a_table() {
    let room = Room::new();
    for (name, format) in [("a.csv.gz", "gzip"), ("a.csv.zst", "zstd")] {
        for bytes in [&b""[..], if format == "gzip" { b"\x1f" } else { b"\x28\xb5\x2f" }] {
            room.write(name, bytes);
            let run = room.run(&format!("verify iris.csv {name}"));
            assert!(run.code == 1 && run.out.contains(&format!("damaged  {name}")), "{run:?}");
            assert!(run.out.contains(format) && run.out.starts_with("ok       iris.csv"), "{run:?}");
            let run = room.run(&format!("convert {name} out.ntb"));
            assert!(run.code == 3 && run.err.contains(name) && run.err.contains(format), "{run:?}");
        }
    }
}
