//! Ctrl-C: the first one ends the command between two blocks of rows, so that no half file stays; the second one ends
//! the program at once.

use std::sync::atomic::{AtomicBool, Ordering};

use numeric_table::{Error, Result};

static IS_SET: AtomicBool = AtomicBool::new(false);

/// Begins to listen. Without a handler, which some systems refuse, Ctrl-C ends the program as usual.
pub(crate) fn listen() {
    let _ = ctrlc::set_handler(|| {
        if IS_SET.swap(true, Ordering::SeqCst) {
            std::process::exit(130);
        }
    });
}

/// Returns whether Ctrl-C was pressed.
pub(crate) fn is_set() -> bool {
    IS_SET.load(Ordering::SeqCst)
}

/// Fails if Ctrl-C was pressed.
pub(crate) fn check() -> Result<()> {
    if is_set() { Err(Error::other("interrupted")) } else { Ok(()) }
}
