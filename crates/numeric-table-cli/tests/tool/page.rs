//! The examples of the README print what it shows. With `NTABLE_BLESS=1` in the environment, the README is written anew.

use std::fmt::Write;

use crate::support::Room;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/README.md");

#[test]
#[cfg_attr(not(unix), ignore = "the examples are lines of a shell")]
fn the_examples_print_what_the_page_shows() {
    let page = std::fs::read_to_string(PAGE).unwrap();
    let (room, mut new, mut is_inside) = (Room::new(), String::new(), false);
    let mut lines = page.lines().peekable();
    while let Some(line) = lines.next() {
        is_inside = if is_inside { line != "```" } else { line == "```console" };
        if !is_inside || line == "```console" {
            writeln!(new, "{line}").unwrap();
            continue;
        }
        let Some(command) = line.strip_prefix("$ ") else { continue }; // what was printed is printed again
        let mut expected = 0;
        let mut rest = lines.clone();
        while let Some(next) = rest.next().filter(|next| *next != "```" && !next.starts_with("$ ")) {
            if let Some(code) = next.strip_prefix("? ") {
                expected = code.parse().unwrap();
            }
        }
        let run = room.shell(command);
        assert_eq!(run.code, expected, "{command}: {run:?}");
        write!(new, "{line}\n{}{}", run.out, run.err).unwrap();
        if expected != 0 {
            writeln!(new, "? {expected}").unwrap();
        }
    }
    if std::env::var_os("NTABLE_BLESS").is_some() {
        std::fs::write(PAGE, new).unwrap();
        return;
    }
    for (line, (shown, printed)) in page.lines().zip(new.lines()).enumerate() {
        assert_eq!(shown, printed, "README.md, line {}", line + 1);
    }
    assert_eq!(page, new);
}

#[test]
fn every_command_has_help_with_an_example_and_the_man_pages_exist() {
    let room = Room::new();
    let help = room.ok("--help");
    assert!(help.contains("Exit codes:") && help.contains("Examples:"));
    let commands = [
        "info",
        "head",
        "tail",
        "sample",
        "rows",
        "stats",
        "corr",
        "convert",
        "verify",
        "diff",
        "split",
        "join",
        "repair",
        "bench",
        "completions",
        "man",
    ];
    for command in commands {
        assert!(help.contains(&format!("\n  {command}")), "{command}");
        if command != "tail" {
            let help = room.ok(&format!("{command} --help"));
            assert!(help.contains("Example") && help.contains("ntable "), "{command}: {help}");
        }
    }
    room.ok("man --folder pages");
    assert!(room.path("pages/ntable.1").exists() && room.path("pages/ntable-convert.1").exists());
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        assert!(room.ok(&format!("completions {shell}")).contains("convert"), "{shell}");
    }
}
