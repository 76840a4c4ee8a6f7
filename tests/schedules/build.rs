//! Takes the text of the library's modules and puts shuttle's threads, locks and atomics in the place of the standard
//! library's. Nothing else of the text changes, but for the few replacements below.

use std::path::Path;
use std::{env, fs};

fn main() {
    let root = Path::new(&env::var("CARGO_MANIFEST_DIR").unwrap()).join("../..");
    let take = |file: &str, end: &str, replaced: &[(&str, &str)]| {
        let path = root.join(file);
        println!("cargo::rerun-if-changed={}", path.display());
        let text = fs::read_to_string(&path).unwrap();
        let text = &text[..text.find(end).unwrap_or_else(|| panic!("{file} has no {end:?}"))];
        let lines = text.lines().filter(|line| !line.starts_with("//!")).map(|line| format!("{line}\n"));
        let mut text = lines.collect::<String>().replace("std::sync::", "crate::sync::");
        text = text.replace("use std::thread;", "use shuttle::thread;");
        for (old, new) in replaced {
            assert!(text.contains(old), "{file} has no {old:?}");
            text = text.replace(old, new);
        }
        let name = file.trim_start_matches("crates/numeric-table-execution/").replace('/', "_");
        fs::write(Path::new(&env::var("OUT_DIR").unwrap()).join(name), text).unwrap();
    };
    // Few looks, so that the caller sleeps.
    let pool = [("rayon::", "crate::pool::"), ("LOOKS_BEFORE_SLEEP: usize = 64", "LOOKS_BEFORE_SLEEP: usize = 1")];
    take("src/base/crew.rs", "#[cfg(test)]", &pool);
    take("src/base/ahead.rs", "#[cfg(test)]", &[]);
    let arrays = [
        ("crate::array::", "numeric_table::"),
        ("crate::base::element::Element", "numeric_table::Element"),
        ("use super::Region;", "use numeric_table::table::spi::Region;"),
        ("crate::base::error::{Error, ErrorKind, Result}", "super::error::{Error, ErrorKind, Result}"),
        (".own_data()?", ".mutable_data().ok()?"),
    ];
    take("src/table/lease.rs", "#[cfg(test)]", &arrays);
    let device = [
        ("use numeric_table::{Array, Element};", ""),
        ("use super::ArrayHandle;", ""),
        ("use crate::memory::ExecutionMemory;", ""),
        ("use crate::transport::{Arriving, Engine, Event};", "use crate::device::{DeviceAdapter, Engine, Event};"),
        ("use crate::{DeviceAdapter, HandleError};", ""),
    ];
    take(
        "crates/numeric-table-execution/src/handle/ahead.rs",
        "impl<T: Element, D: DeviceAdapter> ArrayHandle",
        &device,
    );
}
