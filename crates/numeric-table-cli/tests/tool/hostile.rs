//! Damaged files, closed pipes, folders that cannot be written, little memory, and Ctrl-C.

use crate::support::Room;

#[test]
fn a_file_that_is_cut_or_flipped_anywhere_is_an_error_and_never_a_crash() {
    let room = Room::new();
    for name in ["a.ntb", "b.parquet", "c.arrow", "d.csv.gz", "e.npy", "f.npz", "g.csv.zst"] {
        room.ok(&format!("convert --quiet iris.csv {name}"));
        let whole = room.read(name);
        let broken = format!("broken.{}", name.split_once('.').unwrap().1);
        for part in 0..8 {
            room.write(&broken, &whole[..whole.len() * part / 8]);
            let run = room.run(&format!("stats {broken}"));
            assert!([0, 2, 3].contains(&run.code), "{name}, cut {part}: {run:?}");
            assert!(run.code == 0 || run.err.starts_with("error: "), "{name}, cut {part}: {run:?}");
            let mut flipped = whole.clone();
            flipped[whole.len() * (2 * part + 1) / 16] ^= 0x81;
            room.write(&broken, flipped);
            for command in ["info", "verify", "convert --to csv"] {
                let target = if command.starts_with("convert") { "out.csv" } else { "" };
                let run = room.run(&format!("{command} {broken} {target}"));
                assert!([0, 1, 2, 3].contains(&run.code), "{command} {name}, flip {part}: {run:?}");
                assert!(!run.err.contains("panicked at"), "{command} {name}, flip {part}: {run:?}");
            }
        }
    }
}

#[test]
fn a_cut_file_is_named_with_what_to_do() {
    let room = Room::new();
    for name in ["a.arrow", "b.mtx", "c.csv.zst", "d.csv.gz", "e.parquet", "f.ntb", "g.npy"] {
        room.ok(&format!("convert --quiet --columns 0..4 iris.csv {name}"));
        let bytes = room.read(name);
        room.write(name, &bytes[..bytes.len() * 2 / 3]);
        let run = room.run(&format!("stats {name}"));
        assert!(run.code == 3 && run.err.starts_with(&format!("error: {name}: ")), "{run:?}");
        assert!(run.err.contains("write or copy it again"), "{run:?}");
    }
}

#[test]
fn what_is_no_table_is_an_error_that_names_the_file() {
    let room = Room::new();
    room.write("empty.csv", "");
    room.write("empty.ntb", "");
    room.write("nul.csv", [0_u8; 100]);
    room.write("short.csv", "a,b\n1,2\n3\n");
    std::fs::create_dir(room.path("empty")).unwrap();
    for name in ["no-such-file", "empty.ntb", "empty", "short.csv"] {
        let run = room.run(&format!("stats {name}"));
        assert_eq!((run.code, run.out.as_str()), (3, ""), "{name}: {run:?}");
        assert!(run.err.contains(name), "{run:?}");
    }
    let run = room.run("stats short.csv");
    assert!(run.err.contains("line 3"), "{run:?}");
    for name in ["empty.csv", "nul.csv"] {
        let run = room.run(&format!("info {name}"));
        assert!([0, 3].contains(&run.code), "{name}: {run:?}");
    }
}

#[cfg(unix)]
#[test]
fn a_closed_pipe_is_no_error() {
    let room = Room::new();
    let rows: String = (0..200_000).map(|row| format!("{row},{}\n", row * 7)).collect();
    room.write("long.csv", format!("a,b\n{rows}"));
    for command in ["convert long.csv -", "head -n 200000 long.csv", "head -n 200000 --json long.csv"] {
        let run = room.shell(&format!("(ntable {command}; echo $? > code) | head -n 1 > first"));
        assert_eq!((run.code, run.err.as_str()), (0, ""), "{command}: {run:?}");
        assert_eq!(room.read("code"), b"0\n", "{command}");
    }
}

#[cfg(unix)]
#[test]
fn a_folder_that_cannot_be_written_is_an_error_and_stays_as_it_was() {
    use std::os::unix::fs::PermissionsExt;
    let room = Room::new();
    std::fs::create_dir(room.path("closed")).unwrap();
    room.write("closed/old.ntb", "old");
    std::fs::set_permissions(room.path("closed"), std::fs::Permissions::from_mode(0o555)).unwrap();
    if std::fs::write(room.path("closed/probe"), "").is_ok() {
        println!("skipped: this user may write anywhere");
        let run = room.run("convert iris.csv no/such/folder/x.ntb");
        assert!(run.code == 3 && run.err.contains("no/such/folder"), "{run:?}");
        return;
    }
    for name in ["closed/old.ntb", "closed/new.csv", "closed/new.parquet"] {
        let run = room.run(&format!("convert iris.csv {name}"));
        assert!(run.code == 3 && run.err.contains("closed"), "{run:?}");
    }
    assert_eq!(room.read("closed/old.ntb"), b"old");
    std::fs::set_permissions(room.path("closed"), std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// A file of 150 MiB with 96 MiB of memory for everything: the program, its stacks and its blocks.
#[cfg(target_os = "linux")]
#[test]
fn files_larger_than_memory_are_read_and_converted() {
    let room = Room::new();
    room.ok("convert --type f64 --columns 0..4 iris.csv a.ntb");
    // 2^15 times the 150 rows of 4 columns.
    for _ in 0..5 {
        room.ok("join --quiet a.ntb a.ntb a.ntb a.ntb a.ntb a.ntb a.ntb a.ntb b.ntb");
        std::fs::rename(room.path("b.ntb"), room.path("a.ntb")).unwrap();
    }
    assert!(std::fs::metadata(room.path("a.ntb")).unwrap().len() > 149 << 20);
    for command in ["stats --columns 0", "tail -n 1", "convert --columns 1,0 --to ntb"] {
        let target = if command.starts_with("convert") { "c.ntb" } else { "" };
        let line = format!("ulimit -d 98304; ntable --threads 2 {command} a.ntb {target}");
        let run = room.shell(&line);
        assert_eq!(run.code, 0, "{command}: {run:?}");
    }
    let run = room.shell("ulimit -d 8192; ntable --threads 1 stats a.ntb");
    assert_ne!(run.code, 0, "the limit has an effect: {run:?}");
}

/// Writes a CSV file of some MiB.
#[cfg(target_os = "linux")]
fn write_long_csv(room: &Room, name: &str, mebibytes: usize) {
    use std::io::Write;
    let long_word = |number: usize| format!("{}{number}", "w".repeat(180)); // few fields are read fast
    let rows: String = (0..5000).map(|row| format!("{row},{}.25,{}\n", row * 7, long_word(row % 50))).collect();
    let mut file = std::fs::File::create(room.path(name)).unwrap();
    writeln!(file, "a,b,c").unwrap();
    for _ in 0..(mebibytes << 20) / rows.len() + 1 {
        file.write_all(rows.as_bytes()).unwrap();
    }
}

/// Summarizes, converts and prints a CSV file with some KiB of memory: the program, its stacks and its blocks.
#[cfg(target_os = "linux")]
fn check_long_csv(mebibytes: usize, kibibytes: usize) {
    let room = Room::new();
    write_long_csv(&room, "long.csv", mebibytes);
    assert!(std::fs::metadata(room.path("long.csv")).unwrap().len() > kibibytes as u64 * 1024);
    for command in ["stats long.csv", "tail -n 1 long.csv", "convert long.csv long.parquet"] {
        let run = room.shell(&format!("ulimit -d {kibibytes}; ntable --threads 2 {command}"));
        assert_eq!((run.code, run.err.as_str()), (0, ""), "{command}: {run:?}");
    }
    let run = room.shell("ulimit -d 8192; ntable --threads 1 stats long.csv");
    assert_ne!(run.code, 0, "the limit has an effect: {run:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn csv_files_larger_than_memory_are_read_and_converted() {
    check_long_csv(64, 48 << 10);
}

#[cfg(target_os = "linux")]
#[test]
#[ignore = "writes a file of 4 GiB, and reads it three times"]
fn a_csv_file_of_4_gib_is_read_with_256_mib() {
    check_long_csv(4096, 256 << 10);
}

/// The program is stopped by Ctrl-C while it writes: the old file stays, and nothing is left beside it.
#[cfg(unix)]
#[test]
fn ctrl_c_leaves_no_half_file() {
    let room = Room::new();
    let rows: String = (0..400_000).map(|row| format!("{row},{}.5\n", row * 7)).collect();
    room.write("long.csv", format!("a,b\n{}", rows.repeat(4)));
    room.write("out.ntb", "old");
    room.write("out.parquet", "old");
    for (name, wait) in [("out.ntb", "0.3"), ("out.parquet", "0.6"), ("out.ntb", "1.2")] {
        let line = format!(
            "ntable convert long.csv {name} & pid=$!; sleep {wait}; kill -INT $pid 2>/dev/null; wait $pid; echo $?"
        );
        let run = room.shell(&format!("exec 2>/dev/null; set -m; {line}"));
        let code = run.out.lines().last().unwrap_or("").to_owned();
        match code.as_str() {
            "130" => assert_eq!(room.read(name), b"old", "{run:?}"),
            "0" => assert_eq!(room.ok(&format!("verify --quiet {name}")), ""), // it was faster
            _ => panic!("{name}: {run:?}"),
        }
        room.write(name, "old");
        assert!(room.names().iter().all(|name| !name.starts_with('.')), "{:?}", room.names());
    }
}
