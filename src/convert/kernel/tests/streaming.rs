//! Results that are too large for the cache, and partly stored past it: they equal those of small windows.

use super::memory::are_same;
use super::*;

/// Transposed results of at least this size in bytes with long rows are stored past the cache.
const LARGE: usize = crate::convert::kernel::store::STREAMING_BYTES;

/// The period of the values: a prime, so that cache lines, tiles and tasks all have different values.
const PERIOD: usize = 4099;

/// The number of elements that are checked around the written ones.
const GUARDS: usize = 64;

/// Repeating values and their conversions.
struct Pattern<S, D> {
    values: Vec<S>,
    converted: Vec<D>,
}

impl<S: Element, D: Element> Pattern<S, D> {
    /// Creates values that every policy permits, or arbitrary values.
    fn new(is_permitted: bool, random: &mut Random) -> Self {
        let rarity = if is_permitted { usize::MAX } else { 1 };
        let answers = Answers::<S>::random(D::TYPE, ConversionPolicy::Exact, PERIOD, rarity, random);
        Self { converted: answers.converted.downcast::<D>().unwrap().to_vec(), values: answers.values }
    }

    fn values(&self, count: usize) -> Vec<S> {
        self.values.iter().copied().cycle().take(count).collect()
    }

    /// Returns whether contiguous elements are the converted values of a row of a window.
    fn is_row(&self, found: &[D], first: usize, stride: usize) -> bool {
        if stride == 1 {
            let phase = first % PERIOD;
            let (head, rest) = found.split_at(found.len().min(PERIOD - phase));
            let is_head = are_same(head, &self.converted[phase..phase + head.len()]);
            return is_head && rest.chunks(PERIOD).all(|chunk| are_same(chunk, &self.converted[..chunk.len()]));
        }
        let mut phase = first % PERIOD;
        found.iter().all(|&found| {
            let is_same = found.is_same(self.converted[phase]);
            phase = (phase + stride) % PERIOD;
            is_same
        })
    }

    fn is_window(&self, found: &[D], geometry: Geometry) -> bool {
        let Geometry { rows, columns, row_stride, column_stride } = geometry;
        found.len() == rows * columns
            && (0..rows)
                .all(|row| self.is_row(&found[row * columns..(row + 1) * columns], row * row_stride, column_stride))
    }
}

/// Memory for a large result at any offset within a cache line, and its initial content.
struct Room<D> {
    memory: Array<D>,
    untouched: D,
}

impl<D: Element> Room<D> {
    fn new(count: usize) -> Self {
        let untouched = D::nearest(number::Exact::Integer(77));
        Self { memory: Array::full(count + 2 * GUARDS, untouched).unwrap(), untouched }
    }

    /// Runs a call with a part of the memory and checks that nothing is written around it.
    fn lend<R>(&mut self, offset: usize, count: usize, call: impl FnOnce(AnySliceMut<'_>) -> R) -> (R, &[D]) {
        let (memory, range) = (self.memory.mutable_data().unwrap(), GUARDS + offset..GUARDS + offset + count);
        memory.fill(self.untouched);
        let result = call(AnySliceMut::new(&mut memory[range.clone()]));
        for around in [&memory[..range.start], &memory[range.end..]] {
            assert!(around.iter().all(|value| *value == self.untouched), "{count} elements at {offset}");
        }
        (result, &memory[range])
    }
}

const ORIGIN: Origin = Origin { row: 100, column: 10 };

/// Reads windows with results of at least [`LARGE`] bytes, at several offsets within a cache line, by every call.
fn test_pair<S: Element, D: Element>(level: Level, random: &mut Random) {
    let line = LARGE / size_of::<D>();
    let (tall, wide) = (line / 37 + 1, 2051);
    let pattern = Pattern::<S, D>::new(false, random);
    let values = pattern.values(line + wide + 200);
    let mut room = Room::<D>::new(line + wide + 200);
    // Neither a line nor a row need be whole cache lines.
    let windows = [
        (shape(1, line, 1, 1), 0),
        (shape(line + 5, 1, 1, 1), 1),
        (shape(1, line + 63, 1, 1), 64 / size_of::<D>() - 1),
        (shape(tall, 37, 1, tall), 3),
        (shape(line / wide + 1, wide, 1, line / wide + 1), 0),
        (shape(wide, line / wide + 1, 1, wide), 5),
        (shape(19, line / 19 + 1, 1, 19), 0), // few long rows: these bypass the cache
        (shape(19, line / 19 + 1, 1, 19), 64 / size_of::<D>() - 1),
        (shape(19, line / 19 + 1, line / 19 + 2, 1), 0), // long rows with gaps: these do not
    ];
    with_level(level, || {
        for (geometry, offset) in windows {
            let (count, window) = (geometry.rows * geometry.columns, Window::new(&values, geometry).unwrap());
            let case = || format!("{} to {}, {level:?}, {geometry:?} at {offset}", S::TYPE, D::TYPE);
            let read = |room: AnySliceMut<'_>| S::read_over(window, room, ConversionPolicy::Saturate, ORIGIN);
            let (result, found) = room.lend(offset, count, read);
            assert!(result.is_ok() && pattern.is_window(found, geometry), "{}", case());
        }
        let (geometry, policy) = (windows[4].0, ConversionPolicy::Saturate);
        for geometry in [geometry, windows[6].0] {
            let array = S::to_array(Window::new(&values, geometry).unwrap(), D::TYPE, policy, ORIGIN).unwrap();
            assert!(pattern.is_window(&array.downcast::<D>().unwrap(), geometry));
        }
    });
}

#[test]
fn a_large_result_is_that_of_small_ones_wherever_it_begins_and_ends() {
    let (levels, mut random) = (levels(), Random(0x5EED_0401));
    let best = *levels.last().unwrap();
    if !tries_every_pair() {
        return test_pair::<u8, f64>(best, &mut random);
    }
    for &level in &levels {
        test_pair::<u8, f64>(level, &mut random);
    }
    test_pair::<f64, f64>(best, &mut random);
    test_pair::<i16, f32>(best, &mut random);
    test_pair::<f32, half::bf16>(best, &mut random);
    test_pair::<i8, u8>(best, &mut random);
}

/// Rejected values at the ends and in the middle of a large result.
fn test_refusals<S: Element, D: Element>(policy: ConversionPolicy, random: &mut Random) {
    let line = LARGE / size_of::<D>();
    let wide = line / 1999 + 1;
    let pattern = Pattern::<S, D>::new(true, random);
    let mut values = pattern.values(1999 * wide + 3);
    let mut room = Room::<D>::new(values.len());
    let pair = Pair::<S>::to(D::TYPE);
    let refused = std::iter::repeat_with(|| value::<S>(random)).find(|&value| !policy.permits((pair.loss)(value)));
    for (geometry, place) in [
        (shape(1, line + 3, 1, 1), 0),
        (shape(1, line + 3, 1, 1), line + 2),
        (shape(1999, wide, 1, 1999), 1999 * wide - 1),
        (shape(wide, 1999, 1999, 1), line / 2),
        (shape(19, line / 19 + 1, 1, 19), line / 2),
    ] {
        let count = geometry.rows * geometry.columns;
        let (permitted, offset) = (values[place], random.below(16));
        let read =
            |values: &[S], room: AnySliceMut<'_>| S::read(Window::new(values, geometry).unwrap(), room, policy, ORIGIN);
        let read_over = |values: &[S], room: AnySliceMut<'_>| {
            S::read_over(Window::new(values, geometry).unwrap(), room, policy, ORIGIN)
        };
        let (result, found) = room.lend(offset, count, |room| read_over(&values, room));
        assert!(result.is_ok() && pattern.is_window(found, geometry), "{policy}, {geometry:?} at {offset}");
        values[place] = refused.unwrap();
        let index = offsets(geometry).position(|offset| offset == place).unwrap();
        let expected = (100 + index / geometry.columns, 10 + index % geometry.columns);
        let untouched = room.untouched;
        let (result, found) = room.lend(offset, count, |room| read(&values, room));
        assert_eq!(place_of(result), expected, "{policy}, {geometry:?} at {offset}");
        assert!(found.iter().all(|value| *value == untouched), "{policy}, {geometry:?} at {offset}");
        let (result, _) = room.lend(offset, count, |room| read_over(&values, room));
        assert_eq!(place_of(result), expected, "{policy}, {geometry:?} at {offset}");
        values[place] = permitted;
    }
}

fn place_of(result: Result<()>) -> (usize, usize) {
    match result.map_err(Error::into_kind) {
        Err(ErrorKind::ValueNotRepresentable { row, column, .. }) => (row, column),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_value_that_a_large_result_cannot_hold_is_named_and_nothing_is_written() {
    let mut random = Random(0x5EED_0402);
    test_refusals::<f32, u64>(ConversionPolicy::Checked, &mut random);
    test_refusals::<f64, i32>(ConversionPolicy::Exact, &mut random);
}
