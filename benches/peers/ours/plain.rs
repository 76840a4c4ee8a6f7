//! Simple conversions: the reference for results, and the plain loop.

use half::{bf16, f16};
use numeric_table::convert::cast;
use numeric_table::{Array, Element, Error};

/// Conversion of a value to `D` by the language or the `half` crate.
pub(crate) trait Plain<D: Element>: Element {
    fn plain(self) -> D;
}

macro_rules! plain {
    ($($source:ty => $target:ty, |$value:ident| $plain:expr;)*) => {
        $(impl Plain<$target> for $source {
            #[inline(always)]
            fn plain(self) -> $target {
                let $value = self;
                $plain
            }
        })*
    };
}

plain! {
    f32 => f32, |value| value;
    f64 => f64, |value| value;
    f32 => f64, |value| f64::from(value);
    f64 => f32, |value| value as f32;
    f64 => i32, |value| value as i32;
    f32 => i32, |value| value as i32;
    f32 => u32, |value| value as u32;
    f32 => i16, |value| value as i16;
    f32 => u8, |value| value as u8;
    i16 => f32, |value| f32::from(value);
    u8 => f32, |value| f32::from(value);
    i32 => i16, |value| value as i16;
    f16 => f32, |value| value.to_f32();
    f32 => f16, |value| f16::from_f32(value);
    bf16 => f32, |value| value.to_f32();
    f32 => bf16, |value| bf16::from_f32(value);
}

/// Converts value by value; compiled for the baseline instruction set.
#[inline]
pub(crate) fn plain_loop<S: Plain<D>, D: Element>(source: &[S], target: &mut [D]) {
    target.iter_mut().zip(source).for_each(|(target, &value)| *target = value.plain());
}

/// Checks every result.
pub(crate) fn check<S: Plain<D>, D: Element>(what: &str, source: &[S], target: &[D]) {
    assert_eq!(source.len(), target.len(), "{what}");
    if let Some(wrong) = source.iter().zip(target).position(|(source, target)| source.plain() != *target) {
        panic!("{what}: {:?} at {wrong} became {:?}", source[wrong], target[wrong]);
    }
}

/// Returns values from 0 to 247.5, which fit every type; most of them have a fraction in a float.
pub(crate) fn sample_values<S: Element>(count: usize) -> Result<Array<S>, Error> {
    Array::from_fn(count, |i| cast::<f64, S>((i * 7 % 251) as f64 * 0.99))
}

/// Returns the name of a conversion: `f32_to_f64`.
pub(crate) fn pair<S: Element, D: Element>() -> String {
    format!("{}_to_{}", S::TYPE, D::TYPE)
}
