//! The contents of errors, and their cost.

use std::error::Error as _;
use std::io;
use std::path::Path;

use super::{Error, ErrorKind, Hint, Result};
use crate::base::element::ElementType;
use crate::base::value::AnyValue;

/// Created at compile time, without an allocation.
const REFUSED: Error = Error::out_of_memory(8);

fn refused_value() -> Error {
    Error::not_representable(1, 2, AnyValue::from(300_u64), ElementType::U8)
}

#[test]
fn an_error_is_two_words_wide() {
    assert!(size_of::<Error>() <= 16);
    assert!(size_of::<Result<(), Error>>() <= 16);
}

#[test]
fn an_error_about_memory_has_its_bytes_and_takes_neither_file_nor_hint() {
    let error = REFUSED.in_file("a").with_hint(Hint::new("drop", "frees some")).moved(1, 1);
    assert_eq!((error.refused_bytes(), error.path(), error.hints().len(), error.place()), (Some(8), None, 0, None));
    assert_eq!(error.to_string(), "out of memory: could not allocate 8 bytes");
    assert_eq!(Error::new(ErrorKind::OutOfMemory).to_string(), "out of memory");
    assert!(matches!(REFUSED.into_kind(), ErrorKind::OutOfMemory));
}

#[test]
fn the_first_file_stays() {
    let error = Error::format(7, "damaged").in_some_file(None::<&Path>).in_file("inner").in_file("outer");
    assert_eq!(error.path(), Some(Path::new("inner")));
    assert_eq!(error.to_string(), "inner: bad format at byte 7: damaged");
    let of_table = Error::new(ErrorKind::NotAllocated).in_written_file("a");
    assert_eq!((of_table.path(), Error::format(0, "b").in_written_file("a").path()), (None, Some(Path::new("a"))));
}

#[test]
fn a_hint_is_added_to_those_of_the_kind() {
    let error = Error::new(ErrorKind::NotAllocated).with_hint(Hint::new("resize", "makes it empty"));
    let calls: Vec<&str> = error.hints().iter().map(Hint::call).collect();
    assert_eq!(calls, ["allocate_data_memory", "set_array", "resize"]);
    assert!(
        error
            .to_string()
            .ends_with(": `allocate_data_memory` allocates it, `set_array` supplies it, `resize` makes it empty")
    );
    assert!(!error.message().to_string().contains('`'));
}

#[test]
fn what_is_moved_keeps_its_file_and_its_hints() {
    let error = refused_value().in_file("a.ntb").moved(10, 20).moved_back(1, 2);
    let place = error.place().unwrap();
    assert_eq!((place.row, place.column), (Some(10), Some(20)));
    assert_eq!((error.path(), error.hints().len()), (Some(Path::new("a.ntb")), 1));
    let far = refused_value().moved(usize::MAX, usize::MAX).place().unwrap();
    assert_eq!((far.row, far.column), (Some(usize::MAX), Some(usize::MAX)));
}

#[test]
fn the_errors_of_others_are_behind_source() {
    let denied = || io::Error::from(io::ErrorKind::PermissionDenied);
    let is_denied = |error: &Error| {
        let source = error.source().and_then(|source| source.downcast_ref::<io::Error>());
        source.is_some_and(|source| source.kind() == io::ErrorKind::PermissionDenied)
    };
    assert!(is_denied(&Error::io("a", denied())) && is_denied(&Error::stream(denied())));
    let foreign = ErrorKind::Foreign { reason: "it failed".to_owned(), source: Box::new(denied()) };
    assert!(is_denied(&Error::new(foreign)));
    let other = Error::other(denied()); // is shown as the error itself, whose source is its own
    assert!(
        matches!(other.kind(), ErrorKind::Other { source } if source.is::<io::Error>()) && other.source().is_none()
    );
    assert_eq!(other.in_file("a").to_string(), "a: permission denied");
}

#[test]
fn lines_and_places_are_those_of_the_kind() {
    let text = ErrorKind::Text {
        line: 3,
        byte: None,
        column: Some(1),
        name: Some("b".to_owned()),
        text: "x".to_owned(),
        reason: "is not a number".to_owned(),
    };
    let error = Error::new(text);
    assert_eq!((error.line(), error.place().unwrap().column), (Some(3), Some(1)));
    assert_eq!(error.to_string(), "line 3, column 1 (b): \"x\" is not a number");
    assert_eq!(refused_value().line(), None);
    let one = Error::index_out_of_range("categories", 5, 3);
    assert_eq!(one.to_string(), "index 5 is out of range: there are 3 categories");
}
