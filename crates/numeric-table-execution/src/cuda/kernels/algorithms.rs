//! The algorithms of CUDA devices.
//!
//! Temporary arrays are handles, so that idle copies of others make room for them. They are allocated before an output
//! is prepared.

use std::mem::swap;

use numeric_table::{Element, ElementType};

use super::source::{DIGITS, SORT_TILE};
use super::{number, read, write};
use crate::algorithms::{Accumulate, Algorithms, BLOCK, RANGE, Reduction, bins_between, check_flags, with_accumulator};
use crate::cuda::launch::{Argument, Geometry};
use crate::cuda::modules::Unit;
use crate::cuda::{Cuda, CudaTransport};
use crate::memory::{DeviceView, DeviceViewMut};
use crate::{ArrayHandle, Container, HandleError, Kernels};

type View<'v, T> = DeviceView<'v, T, CudaTransport>;
type ViewMut<'v, T> = DeviceViewMut<'v, T, CudaTransport>;

/// How values are divided among blocks of threads: those of a part follow one another.
struct Parts {
    /// Number of values of a part; the last one may have fewer.
    span: usize,
    count: usize,
}

impl Parts {
    /// Parts of an array, at most: several for each place for a block, so that all end at about the same time.
    const MAX: usize = 4096;
    /// Tiles of a part, at most: so that its values are counted in 32 bits.
    const MAX_TILES: usize = 1 << 20;

    fn of(values: usize) -> Self {
        let tiles = values.div_ceil(SORT_TILE).max(1);
        let length = tiles.div_ceil(Self::MAX).min(Self::MAX_TILES);
        Self { span: length * SORT_TILE, count: tiles.div_ceil(length) }
    }
}

/// Returns the argument of a view that a kernel reads, and that another one has written.
fn read_back<'v, T: Element>(view: &'v mut ViewMut<'_, T>) -> Argument<'v> {
    let range = view.byte_range();
    Argument::Read(view.buffer(), range)
}

/// Returns the number of a type.
fn kind<'v, T: Element>() -> Argument<'v> {
    Argument::Number(T::TYPE.id().into())
}

/// The argument of an address that the kernel need not have.
const NOWHERE: Argument<'static> = Argument::Number(0);

/// Returns the number of an operation.
fn code<'v>(operation: Reduction) -> Argument<'v> {
    Argument::Number(match operation {
        Reduction::Sum => 0,
        Reduction::Min => 1,
        Reduction::Max => 2,
    })
}

/// The sums of blocks before each in its range, those of the ranges before, and the sum of all.
type Sums<A> = [ArrayHandle<A, Cuda>; 3];

impl Cuda {
    /// Returns how a kernel runs whose blocks of threads take one piece of work after another.
    fn over_pieces(&self, pieces: usize) -> Geometry {
        self.on_blocks(pieces, u32::MAX)
    }

    fn empty<T: Element>(&self) -> ArrayHandle<T, Self> {
        ArrayHandle::empty(self)
    }

    /// Sorts indices of one or more keys, by numbers of type `W`.
    fn sort_as<K: Element, W: Element, C: Container<u64>>(
        &self,
        keys: &View<'_, K>,
        output: &mut ArrayHandle<u64, Self, C>,
    ) -> Result<(), HandleError> {
        let (count, passes) = (keys.len(), size_of::<K>());
        let Parts { span, count: parts } = Parts::of(count);
        let width = size_of::<W>();
        let is_one_pass = passes == 1;
        let (mut first, mut second, mut spare) = (self.empty::<W>(), self.empty::<W>(), self.empty::<u64>());
        let (mut counts, mut totals) = (self.empty::<u64>(), self.empty::<u64>());
        let mut from = first.prepare_for_output(count)?;
        let mut to = second.prepare_for_output(if is_one_pass { 0 } else { count })?;
        let spare = spare.prepare_for_output(if is_one_pass { 0 } else { count })?;
        let mut counts = counts.prepare_for_output(DIGITS * parts)?;
        let mut totals = totals.prepare_for_output(DIGITS)?;
        let output = output.prepare_for_output(count)?;

        let mut arguments = [read(keys), number(count), kind::<K>(), write(&mut from)];
        // SAFETY: the parameters of `sort_keys` are these; it reads `count` keys and writes as many numbers.
        unsafe { self.run(Unit::Sorting, &format!("sort_keys_{width}"), self.over(count), &mut arguments) }?;

        // The last pass writes the output.
        let (mut target, mut source) = if passes % 2 == 1 { (output, spare) } else { (spare, output) };
        for pass in 0..passes {
            let (shift, is_last) = (8 * pass, pass + 1 == passes);
            let sizes = || [count, shift, span, parts].map(number);
            let [a, b, c, d] = sizes();
            let mut arguments = [read_back(&mut from), a, b, c, d, write(&mut counts)];
            let name = format!("digit_counts_{width}");
            // SAFETY: the parameters of `digit_counts` are these; it reads `count` numbers, which `parts` parts of
            // `span` have, and writes a count for each digit and part.
            unsafe { self.run(Unit::Sorting, &name, self.over_pieces(parts), &mut arguments) }?;
            self.add_up(&mut counts, DIGITS, parts, &mut totals)?;

            let [a, b, c, d] = sizes();
            let mut arguments = [
                read_back(&mut from),
                if pass == 0 { NOWHERE } else { read_back(&mut source) },
                a,
                b,
                c,
                d,
                read_back(&mut counts),
                read_back(&mut totals),
                if is_last { NOWHERE } else { write(&mut to) },
                write(&mut target),
            ];
            let name = format!("digit_scatter_{width}");
            // SAFETY: the parameters of `digit_scatter` are these; it reads `count` numbers, as many indices after the
            // first pass, and the sums of the counts of these numbers. From them follow different places below `count`,
            // where it writes the indices, and before the last pass the numbers.
            unsafe { self.run(Unit::Sorting, &name, self.over_pieces(parts), &mut arguments) }?;
            swap(&mut from, &mut to);
            swap(&mut target, &mut source);
        }
        Ok(())
    }

    /// Replaces counts by the sums of those before them in their row, and writes the sum of each row.
    fn add_up(
        &self,
        counts: &mut ViewMut<'_, u64>,
        rows: usize,
        parts: usize,
        totals: &mut ViewMut<'_, u64>,
    ) -> Result<(), HandleError> {
        let mut arguments = [write(counts), number(rows), number(parts), write(totals)];
        // SAFETY: the parameters of `offsets` are these; the caller has prepared `parts` counts for each row, and a
        // total.
        unsafe { self.run(Unit::Sorting, "offsets", self.over_pieces(rows), &mut arguments) }
    }

    /// Copies values that are chosen by flags, or differ from the one before.
    fn select<T: Element, C: Container<T>>(
        &self,
        input: &View<'_, T>,
        flags: Option<&View<'_, u8>>,
        output: &mut ArrayHandle<T, Self, C>,
    ) -> Result<usize, HandleError> {
        let count = input.len();
        if count == 0 {
            output.prepare_for_output(0)?;
            return Ok(0);
        }
        let Parts { span, count: parts } = Parts::of(count);
        let (mut counts, mut totals) = (self.empty::<u64>(), self.empty::<u64>());
        let mut before = counts.prepare_for_output(parts)?;
        let flags = || flags.map_or(NOWHERE, read);
        let mut arguments =
            [read(input), flags(), number(count), kind::<T>(), number(span), number(parts), write(&mut before)];
        // SAFETY: the parameters of `select_counts` are these; it reads `count` values, and as many flags if there are
        // some, and writes a count for each part.
        unsafe { self.run(Unit::Sorting, "select_counts", self.over_pieces(parts), &mut arguments) }?;
        self.add_up(&mut before, 1, parts, &mut totals.prepare_for_output(1)?)?;
        let found = totals.get_values(&[0])?.first().copied().unwrap_or(0);
        let found = usize::try_from(found).unwrap_or(usize::MAX).min(count);

        let (before, mut target) = (counts.prepare_for_input()?, output.prepare_for_output(found)?);
        if found == 0 {
            return Ok(0);
        }
        let mut arguments = [
            read(input),
            flags(),
            number(count),
            kind::<T>(),
            number(span),
            number(parts),
            read(&before),
            write(&mut target),
            number(found),
        ];
        // SAFETY: the parameters of `select_copy` are these; it reads as above and the sums of the counts, and writes to
        // places below `found` only.
        unsafe { self.run(Unit::Sorting, "select_copy", self.over_pieces(parts), &mut arguments) }?;
        Ok(found)
    }

    /// Combines the values of blocks, those of ranges of blocks, and all of them. The sums before each block and range
    /// are written only for a scan. There are some values.
    fn sums<T: Element, A: Accumulate<T>>(
        &self,
        input: &View<'_, T>,
        operation: Reduction,
        _accumulator: A,
        is_scan: bool,
    ) -> Result<Sums<A::Kept>, HandleError> {
        let blocks = input.len().div_ceil(BLOCK);
        let ranges = blocks.div_ceil(RANGE);
        let [mut of_blocks, mut of_ranges] = [self.empty::<A::Kept>(), self.empty()];
        let [mut before, mut before_range, mut all] = [self.empty::<A::Kept>(), self.empty(), self.empty()];
        let mut of_blocks = of_blocks.prepare_for_output(blocks)?;
        let mut of_ranges = of_ranges.prepare_for_output(ranges)?;

        let mut arguments = [read(input), number(input.len()), kind::<T>(), code(operation), write(&mut of_blocks)];
        let name = kept::<A::Kept>("reduce");
        // SAFETY: the parameters of `reduce` are these; it reads all values, and writes a sum for each block.
        unsafe { self.run(Unit::Reductions, &name, self.over_pieces(blocks), &mut arguments) }?;

        self.combine(&mut of_blocks, RANGE, operation, is_scan.then_some(&mut before), &mut of_ranges)?;
        let mut total = all.prepare_for_output(1)?;
        self.combine(&mut of_ranges, ranges, operation, is_scan.then_some(&mut before_range), &mut total)?;
        Ok([before, before_range, all])
    }

    /// Combines sums in ranges of some of them: writes the sums before each, if they are wanted, and that of each range.
    fn combine<A: Element>(
        &self,
        sums: &mut ViewMut<'_, A>,
        range: usize,
        operation: Reduction,
        before: Option<&mut ArrayHandle<A, Self>>,
        totals: &mut ViewMut<'_, A>,
    ) -> Result<(), HandleError> {
        let count = sums.len();
        let mut before = before.map(|before| before.prepare_for_output(count)).transpose()?;
        let ranges = totals.len();
        let mut arguments = [
            read_back(sums),
            number(count),
            number(range),
            code(operation),
            before.as_mut().map_or(NOWHERE, write),
            write(totals),
        ];
        // SAFETY: the parameters of `combine` are these; it reads `count` sums, and writes as many if there is memory
        // for them, and one for each range: `totals` has that number.
        unsafe { self.run(Unit::Reductions, &kept::<A>("combine"), self.over_pieces(ranges), &mut arguments) }
    }

    fn reduce_as<T: Element, A: Accumulate<T>>(
        &self,
        input: &View<'_, T>,
        operation: Reduction,
        accumulator: A,
    ) -> Result<T, HandleError> {
        if input.is_empty() {
            return Ok(accumulator.give(accumulator.nothing()));
        }
        let [_, _, all] = self.sums(input, operation, accumulator, false)?;
        Ok(accumulator.give(all.get_values(&[0])?.first().copied().unwrap_or(accumulator.nothing())))
    }

    /// Checks where the values are, and writes a scan of them.
    fn scan<T: Element, C: Container<T>>(
        &self,
        input: &View<'_, T>,
        operation: Reduction,
        output: &mut ArrayHandle<T, Self, C>,
        is_exclusive: bool,
    ) -> Result<(), HandleError> {
        input.check(&self.space)?;
        output.check_device(self)?;
        with_accumulator!(operation, T, kept => self.scan_as(input, operation, kept, output, is_exclusive))
    }

    fn scan_as<T: Element, A: Accumulate<T>, C: Container<T>>(
        &self,
        input: &View<'_, T>,
        operation: Reduction,
        accumulator: A,
        output: &mut ArrayHandle<T, Self, C>,
        is_exclusive: bool,
    ) -> Result<(), HandleError> {
        let count = input.len();
        if count == 0 {
            output.prepare_for_output(0)?;
            return Ok(());
        }
        let [before, before_range, _] = self.sums(input, operation, accumulator, true)?;
        let (before, before_range) = (before.prepare_for_input()?, before_range.prepare_for_input()?);
        let mut output = output.prepare_for_output(count)?;
        let mut arguments = [
            read(input),
            number(count),
            kind::<T>(),
            code(operation),
            number(usize::from(is_exclusive)),
            read(&before),
            read(&before_range),
            number(RANGE),
            write(&mut output),
        ];
        let (name, geometry) = (kept::<A::Kept>("scan"), self.over_pieces(count.div_ceil(BLOCK)));
        // SAFETY: the parameters of `scan` are these; it reads `count` values and the sums before each block and range,
        // and writes as many values of this type.
        unsafe { self.run(Unit::Reductions, &name, geometry, &mut arguments) }
    }
}

/// Returns the name of a kernel for results that are kept in a type.
fn kept<A: Element>(form: &str) -> String {
    match A::TYPE {
        ElementType::F32 => format!("{form}_f32"),
        ElementType::F64 => format!("{form}_f64"),
        _ => format!("{form}_words"),
    }
}

impl Algorithms for Cuda {
    fn reduce<T: Element>(&self, input: View<'_, T>, operation: Reduction) -> Result<T, HandleError> {
        input.check(&self.space)?;
        with_accumulator!(operation, T, accumulator => self.reduce_as(&input, operation, accumulator))
    }

    fn scan_inclusive<T: Element, C: Container<T>>(
        &self,
        input: View<'_, T>,
        operation: Reduction,
        output: &mut ArrayHandle<T, Self, C>,
    ) -> Result<(), HandleError> {
        self.scan(&input, operation, output, false)
    }

    fn scan_exclusive<T: Element, C: Container<T>>(
        &self,
        input: View<'_, T>,
        operation: Reduction,
        output: &mut ArrayHandle<T, Self, C>,
    ) -> Result<(), HandleError> {
        self.scan(&input, operation, output, true)
    }

    fn copy_flagged<T: Element, C: Container<T>>(
        &self,
        input: View<'_, T>,
        flags: View<'_, u8>,
        output: &mut ArrayHandle<T, Self, C>,
    ) -> Result<usize, HandleError> {
        input.check(&self.space)?;
        flags.check(&self.space)?;
        output.check_device(self)?;
        check_flags::<T, Self>(&input, &flags)?;
        self.select(&input, Some(&flags), output)
    }

    fn unique<T: Element, C: Container<T>>(
        &self,
        input: View<'_, T>,
        output: &mut ArrayHandle<T, Self, C>,
    ) -> Result<usize, HandleError> {
        input.check(&self.space)?;
        output.check_device(self)?;
        self.select(&input, None, output)
    }

    fn sort_indices<K: Element, C: Container<u64>>(
        &self,
        keys: View<'_, K>,
        output: &mut ArrayHandle<u64, Self, C>,
    ) -> Result<(), HandleError> {
        keys.check(&self.space)?;
        output.check_device(self)?;
        match (keys.is_empty(), size_of::<K>()) {
            (true, _) => output.prepare_for_output(0).map(drop),
            (_, 8) => self.sort_as::<K, u64, C>(&keys, output),
            _ => self.sort_as::<K, u32, C>(&keys, output),
        }
    }

    fn histogram<T: Element, C: Container<u64>>(
        &self,
        input: View<'_, T>,
        edges: &[f64],
        output: &mut ArrayHandle<u64, Self, C>,
    ) -> Result<(), HandleError> {
        input.check(&self.space)?;
        output.check_device(self)?;
        let bins = bins_between(edges)?;
        let edges = ArrayHandle::<f64, Self, _>::from_container(self, edges);
        let edges = edges.prepare_for_input()?;
        self.fill(output.prepare_for_output(bins)?, 0)?;
        let count = input.len();
        if count == 0 {
            return Ok(());
        }
        let mut output = output.prepare_in_place()?;
        let mut arguments = [read(&input), number(count), kind::<T>(), read(&edges), number(bins), write(&mut output)];
        // A block counts in 32 bits.
        let least = u32::try_from((count >> 31) + 1).unwrap_or(i32::MAX as u32);
        let mut geometry = self.over(count);
        geometry.blocks.0 = geometry.blocks.0.max(least);
        // SAFETY: the parameters of `histogram` are these; it reads `count` values and an edge more than there are bins,
        // and changes the counts of bins.
        unsafe { self.run(Unit::Sorting, "histogram", geometry, &mut arguments) }
    }
}
