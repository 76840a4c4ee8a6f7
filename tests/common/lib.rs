//! What the test programs share: the list of element types, small values of each, and owners that count their drops.

pub mod bits;
pub mod copies;
pub mod gaps;
pub mod golden;
pub mod results;
pub mod tables;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use numeric_table::{Element, bf16, f16};

/// Calls `$function::<T>()` for each of the 12 element types.
#[macro_export]
macro_rules! for_each_element {
    ($function:ident) => {{
        $function::<f32>();
        $function::<f64>();
        $function::<i8>();
        $function::<i16>();
        $function::<i32>();
        $function::<i64>();
        $function::<u8>();
        $function::<u16>();
        $function::<u32>();
        $function::<u64>();
        $function::<numeric_table::f16>();
        $function::<numeric_table::bf16>();
    }};
    // Evaluates the body once for each element type `T`.
    ($T:ident => $body:expr) => {
        $crate::for_each_element! {
            @ $T, $body; f32 f64 i8 i16 i32 i64 u8 u16 u32 u64 numeric_table::f16 numeric_table::bf16
        }
    };
    (@ $T:ident, $body:expr; $($native:ty)*) => {{
        $({
            type $T = $native;
            $body;
        })*
    }};
}

/// The name of a test of the module that calls this, as `--exact` takes it: for tests that start themselves.
#[macro_export]
macro_rules! test_name {
    ($test:expr) => {
        match module_path!().split_once("::") {
            Some((_, module)) => format!("{module}::{}", $test),
            None => $test.to_owned(),
        }
    };
}

/// Returns the first number, or the second one under Miri, which takes a thousand times as long as the processor.
pub const fn sized(all: usize, under_miri: usize) -> usize {
    if cfg!(miri) { under_miri } else { all }
}

/// Small whole numbers, which every element type holds exactly; made without the crate's conversion.
pub trait SmallNumber: Element {
    fn small(number: u8) -> Self;

    /// `0, 1, 2, ...`
    fn counting(count: u8) -> Vec<Self> {
        (0..count).map(Self::small).collect()
    }
}

macro_rules! small_numbers {
    ($($native:ty: $make:expr;)*) => {
        $(impl SmallNumber for $native {
            /// Up to 127, the largest that every type has.
            fn small(number: u8) -> Self {
                assert!(number <= 127);
                $make(number)
            }
        })*
    };
}
small_numbers! {
    f32: f32::from;
    f64: f64::from;
    i8: |number: u8| number as i8;
    i16: i16::from;
    i32: i32::from;
    i64: i64::from;
    u8: u8::from;
    u16: u16::from;
    u32: u32::from;
    u64: u64::from;
    f16: |number: u8| f16::from_f32(f32::from(number));
    bf16: |number: u8| bf16::from_f32(f32::from(number));
}

/// How often something was dropped. Clones share the count.
#[derive(Clone, Debug, Default)]
pub struct DropCount(Arc<AtomicUsize>);

impl DropCount {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn get(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }

    pub fn add_one(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// Lends values, and counts when it is dropped.
#[derive(Debug)]
pub struct CountingOwner<T> {
    pub values: Vec<T>,
    drops: DropCount,
}

impl<T> CountingOwner<T> {
    pub fn new(values: impl Into<Vec<T>>, drops: &DropCount) -> Self {
        Self { values: values.into(), drops: drops.clone() }
    }
}

impl<T> AsRef<[T]> for CountingOwner<T> {
    fn as_ref(&self) -> &[T] {
        &self.values
    }
}

impl<T> AsMut<[T]> for CountingOwner<T> {
    fn as_mut(&mut self) -> &mut [T] {
        &mut self.values
    }
}

impl<T> Drop for CountingOwner<T> {
    fn drop(&mut self) {
        self.drops.add_one();
    }
}
