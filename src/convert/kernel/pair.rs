//! The vectorized loops of every pair of element types, each compiled for every level.

use std::mem::MaybeUninit;

use super::interleaved::Step;
use super::requesting::{self, Contiguous};
use crate::array::write_copy;
use crate::base::element::{Element, ElementType, match_width, with_elements};
use crate::convert::ConversionPolicy;
use crate::convert::fast::{Sign, To};
use crate::convert::level::Level;
use crate::window::{AnyRoom, AnyRows, AnySlice, AnySliceMut, AnyWindow, Geometry};

/// The number of values that are counted at a time: small enough for a 16-bit counter.
pub(super) const COUNT_CHUNK: usize = 4096;

/// The size in bytes of the blocks of values that are converted from the last to the first: an eighth of a small
/// first-level cache.
const BACKWARD_BLOCK: usize = 4 << 10;

/// A loop over values at a distance: those at the first pointer, their distance in values, where to, that distance, and
/// how many.
pub(super) type Strided = unsafe fn(*const u8, usize, *mut u8, usize, usize);

/// The loops that convert one element type to another.
pub(super) struct Pair {
    pub(super) source: ElementType,
    pub(super) target: ElementType,
    /// Whether `Checked` permits every value.
    always_fits: bool,
    /// Whether `Exact` permits every value.
    is_lossless: bool,
    pub(super) convert: Contiguous,
    /// The loop that requests values, if there is one.
    pub(super) requesting: Option<Contiguous>,
    convert_suspecting: unsafe fn(Level, *const u8, *mut u8, usize) -> bool,
    convert_strided: Strided,
    convert_pairs: Strided,
    fit: unsafe fn(Level, *const u8, usize) -> bool,
    count_losses: unsafe fn(Level, *const u8, usize) -> Losses,
}

/// The numbers of values in a chunk with a loss, by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Losses {
    /// Values that `Exact` rejects.
    pub(super) lost: usize,
    /// Values that `Checked` rejects; among them:
    pub(super) unfit: usize,
    pub(super) unfit_nan: usize,
    pub(super) unfit_negative: usize,
}

impl Pair {
    #[inline(always)]
    pub(super) fn of(source: ElementType, target: ElementType) -> &'static Self {
        &PAIRS[source.index()][target.index()]
    }

    const fn new<S: Element + To<D> + Sign, D: Element + To<S>>() -> Self {
        Self {
            source: S::TYPE,
            target: D::TYPE,
            always_fits: <S as To<D>>::ALWAYS_FITS,
            is_lossless: <S as To<D>>::IS_LOSSLESS,
            convert: convert::<S, D>,
            requesting: requesting::loop_of::<S, D>(),
            convert_suspecting: convert_suspecting::<S, D>,
            convert_strided: convert_strided::<S, D, 1>,
            convert_pairs: convert_strided::<S, D, 2>,
            fit: fit::<S, D>,
            count_losses: count_losses::<S, D>,
        }
    }

    pub(super) fn target(&self) -> ElementType {
        self.target
    }

    /// Returns whether the policy may reject a value.
    #[inline(always)]
    pub(super) fn needs_check(&self, policy: ConversionPolicy) -> bool {
        match policy {
            ConversionPolicy::Saturate => false,
            ConversionPolicy::Checked => !self.always_fits,
            ConversionPolicy::Exact => !self.is_lossless,
        }
    }

    /// Returns whether the policy permits every value. Takes at most [`COUNT_CHUNK`] values.
    pub(super) fn permits(&self, level: Level, policy: ConversionPolicy, values: AnySlice<'_>) -> bool {
        match policy {
            ConversionPolicy::Saturate => true,
            ConversionPolicy::Checked => self.fit(level, values),
            ConversionPolicy::Exact => self.count_losses(level, values).lost == 0,
        }
    }

    /// Converts under `Saturate`. Panics if the types differ from those of the pair, or the lengths differ; callers
    /// have checked.
    #[inline]
    pub(super) fn convert<'t>(&self, level: Level, values: AnySlice<'_>, mut room: AnyRoom<'t>) -> AnySlice<'t> {
        self.check_ends(values, &room);
        // SAFETY: the types are those that the loop was compiled for, and the lengths are the same; the loop writes
        // every element.
        unsafe {
            (self.convert)(level, values.as_ptr(), room.as_mut_ptr(), values.len());
            room.assume_init()
        }
    }

    /// Converts values, row by row, into rows with the same number of elements under `Saturate`. Panics if the types
    /// differ from those of the pair, or the numbers differ; callers have checked.
    pub(super) fn convert_rows(&self, level: Level, values: AnySlice<'_>, rows: &mut AnyRows<'_>) {
        assert!(values.element_type() == self.source && rows.element_type() == self.target, "the types of the pair");
        let (count, columns) = (rows.rows(), rows.columns());
        assert_eq!(count.checked_mul(columns), Some(values.len()), "the numbers are the same");
        if values.is_empty() {
            return; // rows without columns may be too many to count
        }
        let (from, to) = (values.as_ptr(), rows.as_mut_ptr());
        let from_step = columns * self.source.size_in_bytes();
        let to_step = rows.row_stride() * self.target.size_in_bytes();
        for row in 0..count {
            // SAFETY: the types are those that the loop was compiled for, and both addresses are aligned for them. The
            // row is inside both, whose numbers of elements are the same, and `rows` is borrowed exclusively.
            unsafe { (self.convert)(level, from.add(row * from_step), to.add(row * to_step), columns) };
        }
    }

    /// Converts like [`convert`](Self::convert), but the last block of values first, and so on: a check that has just
    /// read all values has left the last ones in the first-level cache. For values out of the second-level cache this
    /// is slower, because the processor fetches memory ahead in order.
    #[inline(never)]
    pub(super) fn convert_backward(&self, level: Level, values: AnySlice<'_>, mut room: AnyRoom<'_>) {
        self.check_ends(values, &room);
        let step = BACKWARD_BLOCK / self.source.size_in_bytes();
        for start in (0..values.len()).step_by(step).rev() {
            let (earlier, block) = room.split_at(start);
            self.convert(level, values.range(start..values.len().min(start + step)), block);
            room = earlier;
        }
    }

    /// Converts under `Saturate`.
    ///
    /// # Safety
    /// This must be the pair of the two element types, and the lengths must be equal.
    #[inline(always)]
    pub(super) unsafe fn convert_unchecked(&self, level: Level, values: AnySlice<'_>, mut room: AnyRoom<'_>) {
        debug_assert!(
            values.element_type() == self.source && room.element_type() == self.target && values.len() == room.len()
        );
        // SAFETY: the caller promises what the loop requires.
        unsafe { (self.convert)(level, values.as_ptr(), room.as_mut_ptr(), values.len()) }
    }

    /// Converts a window of few columns under `Saturate`, value by value with the strides of both sides. Vectors would
    /// not hold neighbors, and each value is touched once. Panics if the types differ from those of the pair, or the
    /// shapes differ; callers have checked.
    pub(super) fn convert_narrow(&self, source: AnyWindow<'_>, mut target: AnyRows<'_>) {
        for step in self.steps(source, &mut target) {
            // SAFETY: both sides are borrowed, and have these rows.
            unsafe { step.convert(0, source.rows()) };
        }
    }

    /// Returns the loops that together convert a window into rows of its shape: one for each column, or for two that
    /// are neighbors. Each can run over some of the rows of both sides, while these are borrowed. Panics if the types
    /// differ from those of the pair, or the shapes differ; callers have checked.
    #[inline(always)]
    pub(super) fn steps(
        &self,
        source: AnyWindow<'_>,
        target: &mut AnyRows<'_>,
    ) -> impl Iterator<Item = Step> + use<'_> {
        assert!(source.element_type() == self.source && target.element_type() == self.target, "the types of the pair");
        assert!(source.rows() == target.rows() && source.columns() == target.columns(), "the shapes are the same");
        let geometry = source.geometry();
        let Geometry { columns, row_stride, column_stride, .. } = geometry;
        let columns = if geometry.is_empty() { 0 } else { columns }; // rows without columns may be too many to count
        let (from, to, target_stride) = (source.as_ptr(), target.as_mut_ptr(), target.row_stride());
        let (from_size, to_size) = (self.source.size_in_bytes(), self.target.size_in_bytes());
        let mut column = 0;
        std::iter::from_fn(move || {
            if column >= columns {
                return None;
            }
            let is_pair = column_stride == 1 && column + 1 < columns;
            let (convert, width) = if is_pair { (self.convert_pairs, 2) } else { (self.convert_strided, 1) };
            // SAFETY: the offsets are those of the first element of a column of both sides, which have a row at least.
            // The loop was compiled for the types and the columns from there on, and the strides are those of the
            // sides.
            let step = unsafe {
                let (from, to) = (from.add(column * column_stride * from_size), to.add(column * to_size));
                Step::new(convert, width, (self.source, self.target), (from, row_stride), (to, target_stride))
            };
            column += width;
            Some(step)
        })
    }

    /// Converts one of the values under `Saturate`. Panics if the types differ from those of the pair, the lengths
    /// differ, or the index is out of range; callers have checked.
    #[inline]
    pub(super) fn convert_one(&self, values: AnySlice<'_>, index: usize, mut room: AnyRoom<'_>) {
        self.check_ends(values, &room);
        assert!(index < values.len(), "the value is there");
        // SAFETY: the types are those that the loop was compiled for, and the index is below the two lengths; the loop
        // converts one value there.
        unsafe {
            let from = values.as_ptr().add(index * self.source.size_in_bytes());
            let to = room.as_mut_ptr().add(index * self.target.size_in_bytes());
            (self.convert_strided)(from, 0, to, 0, 1);
        }
    }

    /// Does what [`convert_one`](Self::convert_one) does, if the policy permits the value. Returns whether it did.
    ///
    /// # Safety
    /// This must be the pair of the two element types, and the index below both lengths.
    #[inline(always)]
    pub(super) unsafe fn convert_one_permitted(
        &self,
        policy: ConversionPolicy,
        values: &AnySlice<'_>,
        index: usize,
        room: AnySliceMut<'_>,
    ) -> bool {
        debug_assert!(self.is_of(values.element_type(), room.element_type()));
        debug_assert!(index < values.len().min(room.len()));
        if policy != ConversionPolicy::Checked {
            return self.convert_one_exact(policy, values, index, room);
        }
        let mut converted = MaybeUninit::<u64>::uninit(); // large enough, and aligned, for any element
        // SAFETY: the caller's promise is what the loops require. The first one writes a value to `converted`, which is
        // then copied. Any bits of an element may be copied as an integer of its width.
        unsafe {
            let from = values.as_ptr().add(index * self.source.size_in_bytes());
            // Loops for wide vectors only take longer to call.
            let is_suspect = (self.convert_suspecting)(Level::BASELINE, from, converted.as_mut_ptr().cast(), 1);
            if is_suspect && !(self.fit)(Level::BASELINE, from, 1) {
                return false;
            }
            let to = room.into_room().as_mut_ptr().add(index * self.target.size_in_bytes());
            match_width!(self.target, B => to.cast::<B>().write(converted.as_ptr().cast::<B>().read()));
        }
        true
    }

    #[inline(never)]
    fn convert_one_exact(
        &self,
        policy: ConversionPolicy,
        values: &AnySlice<'_>,
        index: usize,
        room: AnySliceMut<'_>,
    ) -> bool {
        let is_permitted = self.permits(Level::BASELINE, policy, values.range(index..index + 1));
        if is_permitted {
            self.convert_one(*values, index, room.into_room());
        }
        is_permitted
    }

    /// Returns whether this is the pair of two types.
    #[inline(always)]
    pub(super) fn is_of(&self, source: ElementType, target: ElementType) -> bool {
        self.source == source && self.target == target
    }

    /// Returns whether single values convert as fast as many. Not so for pairs that need many instructions at the
    /// baseline level.
    pub(super) fn is_simple(&self) -> bool {
        let is_half = |element| matches!(element, ElementType::F16 | ElementType::Bf16);
        self.source == self.target || !(is_half(self.source) || is_half(self.target))
    }

    /// Returns the level for many values in memory, given the chosen one. With AVX-512, values of half the size of their
    /// results are loaded 32 bytes at a time. Where these begin in the middle of 32 bytes, as in large NumPy arrays,
    /// every second load takes parts of two lines. AVX2 loads 16 bytes at a time, which is as fast from memory.
    pub(super) fn level_for(&self, values: AnySlice<'_>, chosen: Level) -> Level {
        let address = values.as_ptr().addr();
        let is_widened_twofold = self.target.size_in_bytes() == 2 * self.source.size_in_bytes();
        let is_in_the_middle = !address.is_multiple_of(32) && address.is_multiple_of(16);
        match is_widened_twofold && is_in_the_middle && self.is_lossless && self.is_simple() {
            true => chosen.without_avx512(),
            false => chosen,
        }
    }

    /// Converts at most [`COUNT_CHUNK`] values as `convert` does, and returns whether the policy permits all of them.
    pub(super) fn convert_checked(
        &self,
        level: Level,
        policy: ConversionPolicy,
        values: AnySlice<'_>,
        mut room: AnyRoom<'_>,
    ) -> bool {
        if policy != ConversionPolicy::Checked {
            self.convert(level, values, room);
            return self.permits(level, policy, values);
        }
        self.check_ends(values, &room);
        // SAFETY: as in `convert`.
        let is_suspect = unsafe { (self.convert_suspecting)(level, values.as_ptr(), room.as_mut_ptr(), values.len()) };
        !is_suspect || self.fit(level, values)
    }

    /// Returns whether `Checked` permits every value. Panics if the type is not the source type; callers have checked.
    fn fit(&self, level: Level, values: AnySlice<'_>) -> bool {
        assert!(values.element_type() == self.source, "the source of the pair");
        // SAFETY: the loop was compiled for this type.
        self.always_fits || unsafe { (self.fit)(level, values.as_ptr(), values.len()) }
    }

    /// Counts the losses of at most [`COUNT_CHUNK`] values. Panics if there are more; callers have cut them.
    pub(super) fn count_losses(&self, level: Level, values: AnySlice<'_>) -> Losses {
        assert!(values.element_type() == self.source && values.len() <= COUNT_CHUNK, "the pair's type, and few values");
        if self.is_lossless {
            return Losses::default();
        }
        // SAFETY: the loop was compiled for this type.
        unsafe { (self.count_losses)(level, values.as_ptr(), values.len()) }
    }

    #[inline]
    pub(super) fn check_ends(&self, values: AnySlice<'_>, room: &AnyRoom<'_>) {
        assert!(values.element_type() == self.source && room.element_type() == self.target, "the types of the pair");
        assert_eq!(values.len(), room.len(), "as many elements as values");
    }
}

/// All pairs, by the indices of source and target.
static PAIRS: [[Pair; ElementType::COUNT]; ElementType::COUNT] = with_elements! { all_pairs () };

macro_rules! all_pairs {
    (() [$(($variant:ident, $native:ty, $name:literal, $id:literal))*]) => {
        [$(with_elements! { pairs_from ($native) }),*]
    };
}
use all_pairs;

macro_rules! pairs_from {
    (($source:ty) [$(($variant:ident, $native:ty, $name:literal, $id:literal))*]) => {
        [$(Pair::new::<$source, $native>()),*]
    };
}
use pairs_from;

/// # Safety
/// `source` must be valid for reads of `count` values of `S`, and `target` for writes of `count` values of `D`; both
/// must be aligned, and must not overlap.
unsafe fn convert<S: Element + To<D>, D: Element>(level: Level, source: *const u8, target: *mut u8, count: usize) {
    // SAFETY: the caller's promise.
    let (values, room) = unsafe { typed::<S, D>(source, target, count) };
    if let Some(same) = AnySlice::new(values).downcast::<D>() {
        write_copy(room, same);
        return;
    }
    S::convert_all(level, values, room);
}

/// # Safety
/// The same as [`convert`].
unsafe fn convert_suspecting<S: Element + To<D>, D: Element>(
    level: Level,
    source: *const u8,
    target: *mut u8,
    count: usize,
) -> bool {
    if S::ALWAYS_FITS {
        // SAFETY: the caller's promise.
        unsafe { convert::<S, D>(level, source, target, count) };
        return false;
    }
    // SAFETY: the caller's promise.
    let (values, room) = unsafe { typed::<S, D>(source, target, count) };
    S::convert_suspecting(level, values, room)
}

/// # Safety
/// `source` must be valid for reads of `N` values of `S` at each of the first `count` multiples of `source_stride`
/// values, and `target` for writes of `N` of `D` at those of `target_stride`; both must be aligned, and must not
/// overlap.
unsafe fn convert_strided<S: Element + To<D>, D: Element, const N: usize>(
    source: *const u8,
    source_stride: usize,
    target: *mut u8,
    target_stride: usize,
    count: usize,
) {
    let (source, target) = (source.cast::<S>(), target.cast::<D>());
    for index in 0..count {
        // SAFETY: the index is below `count`: the caller's promise. An array is aligned as its values are. The same
        // type is copied bit for bit.
        unsafe {
            let (from, to) = (source.add(index * source_stride), target.add(index * target_stride));
            match S::TYPE == D::TYPE {
                true => std::ptr::copy_nonoverlapping(from.cast::<D>(), to, N),
                false => to.cast::<[D; N]>().write((*from.cast::<[S; N]>()).map(To::to)),
            }
        }
    }
}

/// # Safety
/// `source` must be valid for reads of `count` values of `S`, and aligned.
unsafe fn fit<S: Element + To<D>, D: Element>(level: Level, source: *const u8, count: usize) -> bool {
    if S::ALWAYS_FITS {
        return true;
    }
    // SAFETY: the caller's promise.
    let values = unsafe { std::slice::from_raw_parts(source.cast::<S>(), count) };
    S::surely_fit_at(level, values)
        || level.run_with(values, (), |values, ()| values.iter().fold(true, |fit, value| fit & value.fits()))
}

/// # Safety
/// `source` must be valid for reads of `count` values of `S`, and aligned.
unsafe fn count_losses<S: Element + To<D> + Sign, D: Element + To<S>>(
    level: Level,
    source: *const u8,
    count: usize,
) -> Losses {
    if S::IS_LOSSLESS {
        return Losses::default();
    }
    // SAFETY: the caller's promise.
    let values = unsafe { std::slice::from_raw_parts(source.cast::<S>(), count) };
    let [lost, unfit, unfit_nan, unfit_negative] = level.run(|| {
        let mut counts = [0_u16; 4];
        for &value in values {
            let converted: D = value.to();
            let fits = value.fits();
            let is_kept = fits & converted.fits() & (converted.to_unquieted().equals(value) | value.is_nan());
            counts[0] += u16::from(!is_kept);
            counts[1] += u16::from(!fits);
            counts[2] += u16::from(!fits & value.is_nan());
            counts[3] += u16::from(!fits & value.is_negative());
        }
        counts.map(usize::from)
    });
    Losses { lost, unfit, unfit_nan, unfit_negative }
}

/// # Safety
/// The same as [`convert`].
pub(super) unsafe fn typed<'a, S, D>(
    source: *const u8,
    target: *mut u8,
    count: usize,
) -> (&'a [S], &'a mut [MaybeUninit<D>]) {
    // SAFETY: the caller's promise; a `MaybeUninit` may hold anything.
    unsafe {
        (
            std::slice::from_raw_parts(source.cast(), count),
            std::slice::from_raw_parts_mut(target.cast::<MaybeUninit<D>>(), count),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_in_the_middle_of_32_bytes_are_widened_by_shorter_vectors() {
        let numbers = vec![0_f32; 64];
        let aligned = numbers.as_ptr().addr().wrapping_neg() % 64 / size_of::<f32>();
        let pair = |target| Pair::of(ElementType::F32, target);
        for level in Level::available() {
            for skipped in 0..16 {
                let values = AnySlice::new(&numbers[aligned + skipped..]);
                let expected = if skipped % 8 == 4 { level.without_avx512() } else { level };
                assert_eq!(pair(ElementType::F64).level_for(values, level), expected, "{skipped} values after a line");
                assert_eq!(pair(ElementType::I64).level_for(values, level), level, "not every value fits");
                assert_eq!(pair(ElementType::I32).level_for(values, level), level, "as long as before");
            }
        }
        let best = Level::available().pop().unwrap();
        use crate::array::Vectors;
        assert!(matches!(best.without_avx512().vectors(), Vectors::None | Vectors::Avx2));
    }
}
