//! What a terminal shows, by `tmux`.

use std::process::Command;
use std::time::{Duration, Instant};

use crate::support::Room;

#[test]
fn a_terminal_gets_colors_and_columns_that_fit() {
    if Command::new("tmux").arg("-V").output().is_err() {
        println!("skipped: tmux is missing");
        return;
    }
    let room = Room::new();
    let socket = room.path("socket");
    let socket = socket.to_str().unwrap();
    let tmux = |arguments: &[&str]| {
        let output = Command::new("tmux").args(["-S", socket, "-f", "/dev/null"]).args(arguments).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let line = format!(
        "{} head -n 2 iris.csv; {} verify iris.csv; echo done; sleep 60",
        env!("CARGO_BIN_EXE_ntable"),
        env!("CARGO_BIN_EXE_ntable")
    );
    let folder = room.path("");
    let folder = folder.to_str().unwrap();
    tmux(&["new-session", "-d", "-x", "50", "-y", "20", "-c", folder, &line]);
    let start = Instant::now();
    let screen = loop {
        let screen = tmux(&["capture-pane", "-p", "-e"]);
        if screen.contains("done") || start.elapsed() > Duration::from_secs(60) {
            break screen;
        }
        std::thread::sleep(Duration::from_millis(50));
    };
    tmux(&["kill-server"]);
    assert!(screen.contains("done"), "{screen:?}");
    assert!(screen.contains("\u{1b}[1m"), "titles are bold: {screen:?}");
    assert!(screen.contains("\u{1b}[32m"), "good news is green: {screen:?}");
    assert!(screen.contains("... and 2 more columns") || screen.contains("... and 3 more columns"), "{screen:?}");
    assert!(!screen.contains("species"), "columns that do not fit are left out: {screen:?}");
}
