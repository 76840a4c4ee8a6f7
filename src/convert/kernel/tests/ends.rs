//! Memory that ends exactly at the end of the window: a sanitizer reports every access past either end.

use super::memory::memory;
use super::*;

const LENGTHS: usize = 71;

/// Returns windows of about `length` elements: contiguous, with gaps after values or rows, by columns.
fn geometries(length: usize) -> [Geometry; 6] {
    let (rows, columns) = (length.div_ceil(5), length.min(5));
    [
        shape(length, 1, 1, 1),
        shape(length, 1, 3, 1),
        shape(rows, columns, columns, 1),
        shape(rows, columns, columns + 1, 1),
        shape(rows, columns, 1, rows),
        shape(rows, columns, 1, rows + 2),
    ]
}

fn test_pair<S: Element>(target: ElementType, levels: &[Level], random: &mut Random) {
    for length in 0..LENGTHS {
        for geometry in geometries(length) {
            let count = geometry.rows * geometry.columns;
            let policy = POLICIES[random.below(POLICIES.len())];
            let read = Answers::<S>::random(target, policy, span(geometry), 100, random);
            let write = Answers::<S>::random(target, policy, count, 100, random);
            for &level in levels {
                with_level(level, || {
                    let case = |call| Case { call, geometry, start: 0, at: 0 };
                    for call in [Call::Read, Call::ReadOver, Call::ToArray, Call::Check] {
                        read.run(case(call), &mut *memory(target, count));
                    }
                    for keep_unchanged in [false, true] {
                        write.run(case(Call::Write { keep_unchanged }), &mut *memory(target, span(geometry)));
                    }
                    read.report(geometry, 0);
                });
            }
        }
    }
}

#[test]
fn nothing_beyond_the_ends_of_a_window_is_read_or_written() {
    let (levels, mut random) = (levels(), Random(0x5EED_0501));
    for_every_pair!(test_pair(&levels, &mut random));
}
