//! Conversions of slices into existing memory: large, in cache, checked, and of a few values.

use std::hint::black_box;

use half::slice::HalfFloatSliceExt;
use half::{bf16, f16};
use numeric_table::convert::convert_slice;
use numeric_table::{Array, ConversionPolicy, Element, Error};

use crate::measure::{Bench, Contender};
use crate::memory_copy::{MemoryCopy, parallel_parts};
use crate::plain::{Plain, check, pair, plain_loop, sample_values};

/// Number of values that almost fit in the first-level cache.
const CACHED: usize = 4096;
/// Number of times that one call does a cached job.
const CACHED_REPETITIONS: usize = 16;
/// Number of times that one call does a job of a few values.
const FEW_REPETITIONS: usize = 1024;

/// A slice conversion of the `half` crate.
type HalfConvert<S, D> = fn(&[S], &mut [D]);

pub(crate) fn run(bench: &mut Bench) -> Result<(), Error> {
    reused::<f32, f64>(bench, None)?;
    reused::<f64, f32>(bench, None)?;
    reused::<f64, i32>(bench, None)?;
    reused::<f32, i32>(bench, None)?;
    reused::<i16, f32>(bench, None)?;
    reused::<u8, f32>(bench, None)?;
    cached::<f32, i32>(bench, None)?;
    cached::<f32, u32>(bench, None)?;
    cached::<f32, i16>(bench, None)?;
    cached::<f32, u8>(bench, None)?;
    half::<f16, f32>(bench, |source, target| source.convert_to_f32_slice(target))?;
    half::<f32, f16>(bench, |source, target| target.convert_from_f32_slice(source))?;
    half::<bf16, f32>(bench, |source, target| source.convert_to_f32_slice(target))?;
    half::<f32, bf16>(bench, |source, target| target.convert_from_f32_slice(source))?;
    checked::<f64, f32>(bench)?;
    checked::<f64, i32>(bench)?;
    checked::<f32, i32>(bench)?;
    checked::<i32, i16>(bench)?;
    checked::<f32, f16>(bench)?;
    for count in [1, 4, 16, 64] {
        few::<f32, f64>(bench, count)?;
        few::<f32, i32>(bench, count)?;
    }
    Ok(())
}

fn half<S: Plain<D>, D: Element>(bench: &mut Bench, convert: HalfConvert<S, D>) -> Result<(), Error> {
    reused::<S, D>(bench, Some(convert))?;
    cached::<S, D>(bench, Some(convert))
}

/// A source and a target that have been written before. Both come from the library's allocator, like the limit's
/// buffers.
struct Buffers<S, D> {
    source: Array<S>,
    target: Array<D>,
}

impl<S: Plain<D>, D: Element> Buffers<S, D> {
    fn new(count: usize) -> Result<Self, Error> {
        Ok(Self { source: sample_values(count)?, target: Array::full(count, D::default())? })
    }

    /// Checks the results of a conversion function, and returns a function that calls it `times` times.
    fn contender(&mut self, what: &str, times: usize, convert: impl Fn(&[S], &mut [D])) -> Result<impl FnMut(), Error> {
        let (source, target) = (&self.source[..], self.target.mutable_data()?);
        convert(source, target);
        check(what, source, target);
        Ok(move || {
            for _ in 0..times {
                convert(black_box(source), black_box(&mut *target)); // hides the slices from the compiler
            }
        })
    }
}

/// Returns our conversion.
fn ours<S: Element, D: Element>(policy: ConversionPolicy) -> impl Fn(&[S], &mut [D]) {
    move |source, target| convert_slice(source, target, policy).expect("the values fit")
}

/// Times a large conversion into reused memory; the limit is a parallel memcpy of the same number of bytes.
fn reused<S: Plain<D>, D: Element>(bench: &mut Bench, half: Option<HalfConvert<S, D>>) -> Result<(), Error> {
    let job = format!("reused/{}", pair::<S, D>());
    if !bench.wants(&job) {
        return Ok(());
    }
    let count = bench.values();
    let (mut buffers, mut of_peer) = (Buffers::<S, D>::new(count)?, Buffers::<S, D>::new(count)?);
    let mut copy = MemoryCopy::moving(count * (size_of::<S>() + size_of::<D>()))?;
    let (peer, convert) = half.map_or(("loop", plain_loop as HalfConvert<S, D>), |half| ("half", half));
    bench.compare(
        &job,
        1,
        &mut [
            ("ours", &mut buffers.contender(&job, 1, ours(ConversionPolicy::Saturate))?),
            (peer, &mut of_peer.contender(peer, 1, convert)?),
            ("memcpy", &mut copy.contender(1, parallel_parts())?),
        ],
    );
    Ok(())
}

/// Times a conversion in cache, the plain loop, the `half` crate, and a memcpy of the same number of bytes.
fn cached<S: Plain<D>, D: Element>(bench: &mut Bench, half: Option<HalfConvert<S, D>>) -> Result<(), Error> {
    let job = format!("cached/{}", pair::<S, D>());
    if !bench.wants(&job) {
        return Ok(());
    }
    let new = || Buffers::<S, D>::new(CACHED);
    let (mut buffers, mut of_loop, mut of_half) = (new()?, new()?, new()?);
    let mut copy = MemoryCopy::moving(CACHED * (size_of::<S>() + size_of::<D>()))?;
    let times = CACHED_REPETITIONS;
    let mut convert = buffers.contender(&job, times, ours(ConversionPolicy::Saturate))?;
    let mut convert_plainly = of_loop.contender("loop", times, plain_loop)?;
    let mut limit = copy.contender(times, 1)?;
    let mut contenders: Vec<Contender<'_>> =
        vec![("ours", &mut convert), ("loop", &mut convert_plainly), ("memcpy", &mut limit)];
    let mut convert_as_half;
    if let Some(half) = half {
        convert_as_half = of_half.contender("half", times, half)?;
        contenders.push(("half", &mut convert_as_half));
    }
    bench.compare(&job, times, &mut contenders);
    Ok(())
}

/// Times checking for values that do not fit, when all of them fit, large and in cache.
fn checked<S: Plain<D>, D: Element>(bench: &mut Bench) -> Result<(), Error> {
    let large = bench.values();
    for (place, count, times) in [("reused", large, 1), ("cached", CACHED, CACHED_REPETITIONS)] {
        let job = format!("checked/{place}/{}", pair::<S, D>());
        if !bench.wants(&job) {
            continue;
        }
        let (mut checked, mut saturated) = (Buffers::<S, D>::new(count)?, Buffers::<S, D>::new(count)?);
        bench.compare(
            &job,
            times,
            &mut [
                ("ours", &mut checked.contender(&job, times, ours(ConversionPolicy::Checked))?),
                ("saturate", &mut saturated.contender(&job, times, ours(ConversionPolicy::Saturate))?),
            ],
        );
    }
    Ok(())
}

/// Times a call, and the plain loop.
fn few<S: Plain<D>, D: Element>(bench: &mut Bench, count: usize) -> Result<(), Error> {
    let job = format!("few/{}/{count}_values", pair::<S, D>());
    if !bench.wants(&job) {
        return Ok(());
    }
    let (mut buffers, mut of_loop) = (Buffers::<S, D>::new(count)?, Buffers::<S, D>::new(count)?);
    let times = FEW_REPETITIONS;
    bench.compare(
        &job,
        times,
        &mut [
            ("ours", &mut buffers.contender(&job, times, ours(ConversionPolicy::Saturate))?),
            ("loop", &mut of_loop.contender("loop", times, plain_loop)?),
        ],
    );
    Ok(())
}
