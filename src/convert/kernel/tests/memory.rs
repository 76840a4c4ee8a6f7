//! Memory that records its expected contents, of an element type known only at run time.

use super::*;

/// The content of unwritten memory: a value that every type holds, and converts to and from exactly.
const UNTOUCHED: u8 = 77;

/// The number of elements that are compared beyond the written ones.
const GUARDS: usize = 64;

/// Elements of one type, and the expected value of each.
pub(super) trait Memory: Send {
    /// Resets everything: nothing is written yet, and nothing should be written past `end`. Compares up to [`GUARDS`]
    /// elements there as well.
    fn clear(&mut self, end: usize);
    fn room(&mut self, range: Range<usize>) -> AnySliceMut<'_>;
    /// Copies values of the memory's type.
    fn copy(&mut self, at: usize, values: AnySlice<'_>);
    /// Calls the kernel that writes into a window whose first element is at `at`.
    fn write(
        &mut self,
        at: usize,
        geometry: Geometry,
        source: AnySlice<'_>,
        rule: WriteRule,
        origin: Origin,
    ) -> Result<()>;
    /// Sets the expected values: `values[source]` at each place.
    fn expect(&mut self, places: &[usize], values: AnySlice<'_>, sources: &[usize]);
    /// Sets the expected values of the range to its actual values.
    fn accept(&mut self, range: Range<usize>);
    /// Returns whether every element has the expected bits.
    fn is_as_expected(&self) -> bool;
    /// Returns the index of the first element with other bits, its value and the expected value.
    fn first_difference(&self) -> Option<(usize, AnyValue, AnyValue)>;
}

/// Allocates exactly `count` elements: the allocation ends at the end of the last one.
pub(super) fn memory(element: ElementType, count: usize) -> Box<dyn Memory> {
    match_element!(element, T => Box::new(TypedMemory::<T>::new(count)))
}

struct TypedMemory<T> {
    found: Box<[T]>,
    expected: Box<[T]>,
    /// The number of elements that are compared.
    used: usize,
}

impl<T: Element> TypedMemory<T> {
    fn untouched() -> T {
        T::nearest(number::Exact::Integer(UNTOUCHED.into()))
    }

    fn new(count: usize) -> Self {
        let block = || vec![Self::untouched(); count].into_boxed_slice();
        Self { found: block(), expected: block(), used: count }
    }
}

impl<T: Element> Memory for TypedMemory<T> {
    fn clear(&mut self, end: usize) {
        self.used = self.found.len().min(end + GUARDS);
        self.found[..self.used].fill(Self::untouched());
        self.expected[..self.used].copy_from_slice(&self.found[..self.used]);
    }

    fn room(&mut self, range: Range<usize>) -> AnySliceMut<'_> {
        AnySliceMut::new(&mut self.found[range])
    }

    fn copy(&mut self, at: usize, values: AnySlice<'_>) {
        let values: &[T] = values.downcast().unwrap();
        self.found[at..at + values.len()].copy_from_slice(values);
    }

    fn write(
        &mut self,
        at: usize,
        geometry: Geometry,
        source: AnySlice<'_>,
        rule: WriteRule,
        origin: Origin,
    ) -> Result<()> {
        T::write(WindowMut::new(&mut self.found[at..], geometry).unwrap(), source, rule, origin)
    }

    fn expect(&mut self, places: &[usize], values: AnySlice<'_>, sources: &[usize]) {
        let values: &[T] = values.downcast().unwrap();
        for (&place, &source) in places.iter().zip(sources) {
            self.expected[place] = values[source];
        }
    }

    fn accept(&mut self, range: Range<usize>) {
        self.expected[range.clone()].copy_from_slice(&self.found[range]);
    }

    fn is_as_expected(&self) -> bool {
        are_same(&self.found[..self.used], &self.expected[..self.used])
    }

    fn first_difference(&self) -> Option<(usize, AnyValue, AnyValue)> {
        let pairs = || self.found.iter().zip(&self.expected).take(self.used);
        let place = pairs().position(|(&found, &expected)| !found.is_same(expected))?;
        Some((place, self.found[place].into(), self.expected[place].into()))
    }
}

/// Returns whether slices have the same length and the same bits.
pub(super) fn are_same<T: Element>(found: &[T], expected: &[T]) -> bool {
    bytemuck::cast_slice::<T, u8>(found) == bytemuck::cast_slice::<T, u8>(expected)
}
