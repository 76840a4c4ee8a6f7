//! The examples of the pages print what these show. With `NTABLE_BLESS=1` in the environment, the pages are written
//! anew.

use std::fmt::Write;

use crate::support::Room;

/// The page of the crate, and that of the repository.
const PAGES: [&str; 2] =
    [concat!(env!("CARGO_MANIFEST_DIR"), "/README.md"), concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md")];

#[test]
#[cfg_attr(not(unix), ignore = "the examples are lines of a shell")]
fn the_examples_print_what_the_pages_show() {
    for path in PAGES {
        let page = std::fs::read_to_string(path).unwrap();
        let new = printed(&page);
        if std::env::var_os("NTABLE_BLESS").is_some() {
            std::fs::write(path, new).unwrap();
            continue;
        }
        for (line, (shown, printed)) in page.lines().zip(new.lines()).enumerate() {
            assert_eq!(shown, printed, "{path}, line {}", line + 1);
        }
        assert_eq!(page, new);
        assert!(page.contains("```console\n$ "), "{path} has examples");
    }
}

/// Returns a page with what its commands print now.
fn printed(page: &str) -> String {
    let (room, mut new, mut is_inside) = (Room::new(), String::new(), false);
    std::fs::create_dir(room.path("data")).unwrap();
    std::fs::copy(room.path("iris.csv"), room.path("data/iris.csv")).unwrap();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        is_inside = if is_inside { line != "```" } else { line == "```console" };
        if !is_inside || line == "```console" || line.starts_with("$ cargo ") {
            writeln!(new, "{line}").unwrap();
            continue;
        }
        let Some(command) = line.strip_prefix("$ ") else { continue }; // printed again below
        let mut rest = lines.clone().take_while(|next| *next != "```" && !next.starts_with("$ "));
        let expected: i32 = rest.find_map(|next| next.strip_prefix("? ")).map_or(0, |code| code.parse().unwrap());
        let run = room.shell(command);
        assert_eq!(run.code, expected, "{command}: {run:?}");
        write!(new, "{line}\n{}{}", run.out, run.err).unwrap();
        if expected != 0 {
            writeln!(new, "? {expected}").unwrap();
        }
    }
    new
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
        let help = room.ok(&format!("{command} --help"));
        let (_, examples) = help.split_once("\nExample").unwrap_or_else(|| panic!("{command}: {help}"));
        let mut examples = examples.lines().skip(1).filter(|line| !line.is_empty());
        assert!(examples.all(|line| line.starts_with(&format!("  ntable {command}"))), "{command}: {help}");
        assert!(help.lines().all(|line| line.chars().count() <= 100), "{command}: {help}");
    }
    room.ok("man --folder pages");
    assert!(room.path("pages/ntable.1").exists() && room.path("pages/ntable-convert.1").exists());
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        assert!(room.ok(&format!("completions {shell}")).contains("convert"), "{shell}");
    }
}
