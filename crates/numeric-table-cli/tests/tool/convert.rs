//! `convert`, `verify`, `diff`, `split`, `join`, `repair`.

use crate::support::Room;

#[test]
fn every_format_is_written_and_read_back() {
    let room = Room::new();
    let plain = room.ok("convert iris.csv -");
    assert!(plain.starts_with("sepal_length_cm,") && plain.lines().count() == 151);
    for name in ["a.ntb", "b.parquet", "c.arrow", "d.csv.gz", "e.tsv", "f.csv.zst", "g.csv"] {
        room.ok(&format!("convert iris.csv {name}"));
        assert_eq!(room.ok(&format!("diff iris.csv {name}")), "", "{name}");
        assert_eq!(room.ok(&format!("convert {name} -")), plain, "{name}");
    }
    for name in ["h.npy", "i.npz", "j.mtx"] {
        room.ok(&format!("convert --quiet --columns 0..4 iris.csv {name}")); // the names are lost
        let sum = |name: &str| {
            let text = room.ok(&format!("stats --json --columns 2 {name}"));
            serde_json::from_str::<serde_json::Value>(&text).unwrap()["columns"][0]["sum"].clone()
        };
        assert_eq!(sum(name), sum("iris.csv"), "{name}");
    }
    room.ok("convert e.tsv e.tsv.back.csv");
    assert_eq!(room.read("e.tsv.back.csv"), plain.as_bytes(), "the last end of a name counts");
    room.ok("convert --quiet --label species iris.csv k.svm");
    room.ok("convert k.svm l.mtx");
    room.ok("convert l.mtx m.npz");
    assert_eq!(room.ok("convert m.npz -"), room.ok("convert k.svm -"));
    for (name, format) in [("a.ntb", "ntb"), ("b.parquet", "parquet"), ("c.arrow", "arrow")] {
        let run = room.shell(&format!("ntable convert iris.csv - --to {format} > copy && ntable diff copy iris.csv"));
        assert_eq!((run.code, run.err.as_str()), (0, ""), "{name}: {run:?}");
        let run = room.shell(&format!("ntable convert --quiet - out.csv < {name} && ntable diff out.csv iris.csv"));
        assert_eq!((run.code, run.err.as_str()), (0, ""), "{name}: {run:?}");
    }
}

#[test]
fn types_and_missing_values_are_kept_or_said_to_be_lost() {
    let room = Room::new();
    room.write("t.csv", "a,b\n1,0.5\n,300\n3,-1\n");
    room.ok("convert --keep-types t.csv t.ntb");
    assert_eq!(room.ok("convert t.ntb -"), "a,b\n1,0.5\n,300\n3,-1\n");
    room.ok("convert t.csv one.ntb");
    assert_eq!(room.ok("convert one.ntb -"), "a,b\n1,0.5\nNaN,300\n3,-1\n");
    room.ok("convert t.csv t.parquet");
    assert_eq!(room.ok("convert t.parquet -"), "a,b\n1,0.5\n,300\n3,-1\n");
    let run = room.run("convert --type u8 --policy saturate --columns b t.csv u.ntb");
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.err.contains("1 rounded, 2 clamped") && run.err.contains("row 0, column 0"), "{run:?}");
    assert_eq!(room.ok("convert u.ntb -"), "b\n0\n255\n0\n");
    let run = room.run("convert --type u8 t.csv none.ntb");
    assert_eq!(run.code, 3, "{run:?}");
    let run = room.run("convert --type f31 t.csv none.ntb");
    assert!(run.code == 2 && run.err.contains("f32"), "{run:?}");
    assert!(room.names().iter().all(|name| !name.starts_with("none") && !name.starts_with('.')));
}

#[test]
fn no_format_loses_digits_silently() {
    let room = Room::new();
    room.write("t.csv", "id,x\n9007199254740993,0.5\n2,\n");
    for name in ["t.ntb", "t.npy", "t.mtx", "t.svm"] {
        let label = if name == "t.svm" { "--label x " } else { "" };
        let run = room.run(&format!("convert {label}t.csv {name}"));
        assert!(run.code == 3 && run.err.contains("9007199254740993") && run.err.contains("row 0"), "{name}: {run:?}");
        let run = room.run(&format!("convert --policy checked {label}t.csv {name}"));
        assert!(run.code == 0 && run.err.contains("1 rounded"), "{name}: {run:?}");
    }
    for name in ["t.parquet", "t.arrow", "t.npz", "u.csv"] {
        room.ok(&format!("convert t.csv {name}"));
        assert!(room.ok(&format!("convert {name} -")).contains("9007199254740993"), "{name}");
    }
}

#[test]
fn errors_name_standard_input() {
    let room = Room::new();
    room.write("t.csv", "a,b\n1,2\n3\n");
    let run = room.shell("ntable head - < t.csv");
    assert!(run.code == 3 && run.err.starts_with("error: <stdin>: line 3"), "{run:?}");
}

#[test]
fn shards_are_split_and_joined() {
    let room = Room::new();
    for arguments in ["--rows 40", "--parts 4"] {
        room.ok(&format!("split {arguments} iris.csv shards"));
        let info: serde_json::Value = serde_json::from_str(&room.ok("info --json shards")).unwrap();
        assert_eq!(info["shards"].as_array().unwrap().len(), 4);
        assert_eq!(room.ok("diff shards iris.csv"), "");
        assert!(room.ok("verify shards").contains("all checksums match"));
        room.ok("join shards back.csv");
        assert_eq!(room.ok("diff back.csv iris.csv"), "");
        std::fs::remove_dir_all(room.path("shards")).unwrap();
    }
    let run = room.run("convert --to shards --type f32 --policy checked --rows-per-shard 100 iris.csv shards");
    assert!(run.code == 0 && run.err.starts_with("warning: 460 rounded; the first in row 0"), "{run:?}");
    assert_eq!(room.ok("diff --relative 1e-6 shards iris.csv"), "");
    room.ok("join iris.csv iris.csv twice.ntb");
    assert!(room.ok("stats twice.ntb").starts_with("300 rows"));
    room.write("other.csv", "a\n1\n");
    let run = room.run("join iris.csv other.csv out.ntb");
    assert!(run.code == 2 && run.err.contains("other columns"), "{run:?}");
    // Each Parquet file numbers its words in its own order.
    room.write("one.csv", "w\na\nb\n");
    room.write("two.csv", "w\nb\nc\n");
    for name in ["one", "two"] {
        room.ok(&format!("convert {name}.csv {name}.parquet"));
    }
    for inputs in ["one.parquet two.parquet", "one.csv two.csv", "one.csv two.parquet"] {
        for name in ["both.csv", "both.parquet"] {
            room.ok(&format!("join {inputs} {name}"));
            assert_eq!(room.ok(&format!("convert {name} -")), "w\na\nb\nb\nc\n", "{inputs} {name}");
        }
    }
    for name in ["both.ntb", "both.arrow", "both"] {
        let run = room
            .run(&format!("join one.parquet two.parquet --to {} {name}", name.split('.').nth(1).unwrap_or("shards")));
        assert!(run.code == 2 && run.err.contains("words"), "{run:?}");
    }
    let run = room.run("join one.csv two.csv both.ntb");
    assert!(run.code == 2 && run.err.contains("words"), "{run:?}");
    // A folder that has something is not touched.
    let run = room.run("convert --to shards iris.csv shards");
    assert_ne!(run.code, 0, "{run:?}");
    assert!(room.ok("verify --quiet shards").is_empty());
}

#[test]
fn differences_are_named_by_row_and_column() {
    let room = Room::new();
    room.write("a.csv", "x,w\n1,a\n2,b\n3,c\n");
    room.write("b.csv", "x,w\n1,a\n2.5,b\n3,d\n4,e\n");
    let run = room.run("diff a.csv b.csv");
    let expected = "3 and 4 rows\n2 values differ\nrow  column  a.csv  b.csv\n  1  x           2    2.5\n\
                    \x20 2  w           c      d\n";
    assert_eq!((run.code, run.out.as_str()), (1, expected));
    let run = room.run("diff --tolerance 0.5 --columns x a.csv b.csv");
    assert_eq!((run.code, run.out.as_str()), (1, "3 and 4 rows\n"));
    let run = room.run("diff --types --columns x --json a.csv b.csv");
    assert!(run.code == 1 && run.out.contains("is of i64 and f64"), "{run:?}");
    room.write("c.csv", "y\n1\n");
    let run = room.run("diff a.csv c.csv");
    assert_eq!((run.code, run.out.as_str()), (1, "2 and 1 columns\ncolumn 0 is \"x\" and \"y\"\n"));
}

#[test]
fn damage_is_found_and_manifests_are_repaired() {
    let room = Room::new();
    room.ok("split --rows 50 iris.csv shards");
    let file = room.path("shards/part-000001.ntb");
    let mut bytes = std::fs::read(&file).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    std::fs::write(&file, &bytes).unwrap();
    let run = room.run("verify shards iris.csv");
    assert_eq!(run.code, 1);
    assert_eq!(run.out.matches("damaged  ").count(), 1, "{run:?}");
    assert!(run.out.contains("part-000001.ntb"));
    let run = room.run("repair shards");
    assert!(run.code == 1 && run.out.contains("--manifest --yes"), "{run:?}");
    let run = room.run("repair --manifest --yes shards");
    assert!(run.code == 0 && run.out.contains("over 2 files was written, without 1 damaged file\n"), "{run:?}");
    assert!(room.ok("stats shards").starts_with("100 rows"));
    room.write("shards/.00c0ffee00c0ffee.ntb.tmp", "half");
    assert_eq!(room.run("repair --list shards").code, 1);
    assert!(room.path("shards/.00c0ffee00c0ffee.ntb.tmp").exists());
    room.ok("repair --yes shards");
    assert!(!room.path("shards/.00c0ffee00c0ffee.ntb.tmp").exists());
    room.ok("bench --repeat 1 --json shards");
}
