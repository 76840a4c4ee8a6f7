//! How fast the tables are: beside the naive loop, `ndarray`, Arrow, and the limit of the machine, all in one run.
//!
//! Ids read as a path whose first segment is one of the groups below: `rows/f32_to_f64/16_columns/256_rows/ours`. A
//! filter that is the beginning of such a path, as in `cargo bench --bench tables -- rows/f32_to_f64`, sets up nothing
//! else. Throughput counts bytes read and written. The limits `memcpy`, `write` and `read` use as many threads as the
//! library does; the rivals use one, but for `rayon_collect`. Answers are compared with the scalar
//! [`convert::cast`](numeric_table::convert::cast) before anything is timed. In Criterion's test mode everything runs
//! once, on little data.

mod columns;
mod fill;
mod fresh;
mod limits;
mod overhead;
mod policies;
mod reused;
mod rivals;
mod rows;
mod support;
mod threads;
mod transposes;
mod write_back;

use criterion::Criterion;

type Group = fn(&mut Criterion);

/// The first segment of the ids, and what runs them.
const GROUPS: [(&str, Group); 11] = [
    ("rows", rows::rows),
    ("columns", columns::columns),
    ("transposes", transposes::transposes),
    ("fresh", fresh::fresh),
    ("reused", reused::reused),
    ("threads", threads::threads),
    ("policies", policies::policies),
    ("reports", policies::reports),
    ("write_back", write_back::write_back),
    ("overhead", overhead::overhead),
    ("fill", fill::fill),
];

fn main() {
    let mut criterion = support::criterion();
    for (name, group) in GROUPS {
        if support::is_wanted(name) {
            group(&mut criterion);
        }
    }
    criterion.final_summary();
}
