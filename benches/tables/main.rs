//! The speed of tables, compared with the naive loop, `ndarray`, Arrow, and the limit of the machine, all in one run.
//!
//! Ids are paths whose first segment is one of the groups below: `rows/f32_to_f64/16_columns/256_rows/ours`. With a
//! filter that is the beginning of such a path, as in `cargo bench -p benches --bench tables -- rows/f32_to_f64`, only
//! matching benchmarks are set up. Throughput counts bytes read and written. The limits `memcpy`, `write` and `read`
//! use the same number of threads as the library; the rivals use one, except `rayon_collect`. Results are compared with
//! the scalar [`convert::cast`](numeric_table::convert::cast) before anything is timed. In Criterion's test mode,
//! everything runs once, on little data.

mod columns;
mod fill;
mod fresh;
mod limits;
mod overhead;
mod policies;
mod reused;
mod rivals;
mod rows;
mod saves;
mod shards;
mod support;
mod threads;
mod transposes;
mod write_back;

use criterion::Criterion;

type Group = fn(&mut Criterion);

/// The first segment of the ids, and the functions that run them.
const GROUPS: [(&str, Group); 13] = [
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
    ("shards", shards::shards),
    ("save", saves::saves),
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
