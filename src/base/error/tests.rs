//! The width of errors.

use super::{Error, Result};

#[test]
fn an_error_is_two_words_wide() {
    assert!(size_of::<Error>() <= 16);
    assert!(size_of::<Result<(), Error>>() <= 16);
}
