//! What every device must do, be its memory shared or separate. A new device is tested by one line at the end.

mod common;
#[path = "execution/model.rs"]
mod model;

fn environment(name: &str) -> Option<u64> {
    let value = std::env::var(name).ok()?;
    Some(value.parse().unwrap_or_else(|_| panic!("{name} must be a number, not {value:?}")))
}

/// Tests a device: `conformance!(name, how to make one)`.
macro_rules! conformance {
    ($name:ident, $make:expr) => {
        mod $name {
            use numeric_table::execution::*;

            #[test]
            fn random_sequences_of_calls_copy_what_the_table_says() {
                crate::model::check(&|| $make);
            }
        }
    };
}

conformance!(serial, Serial);
conformance!(rayon, Rayon);
conformance!(detached, Detached::new());
