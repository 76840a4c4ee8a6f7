//! A progress bar on standard error, if that is a terminal and the work takes long enough to see it.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::input::Input;

/// Rows that have been read.
pub(crate) struct Progress(ProgressBar);

impl Progress {
    /// Shows what was read of an input.
    pub(crate) fn new(what: &str, input: &Input, quiet: bool) -> Self {
        let bar = match input.known_rows() {
            Some(rows) => ProgressBar::new(rows as u64),
            None => ProgressBar::new_spinner(),
        };
        if quiet || !std::io::stderr().is_terminal() {
            bar.set_draw_target(ProgressDrawTarget::hidden());
            return Self(bar);
        }
        let template = match input.known_rows() {
            Some(_) => "{msg} [{bar:30}] {human_pos}/{human_len} rows, {eta} left",
            None => "{msg} {spinner} {human_pos} rows, {elapsed}",
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("=> "));
        }
        bar.set_message(what.to_owned());
        bar.enable_steady_tick(Duration::from_millis(200));
        Self(bar)
    }

    pub(crate) fn add(&self, rows: usize) {
        self.0.inc(rows as u64);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
