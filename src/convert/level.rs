//! The instruction sets that the loops may use: detected once, and read where a loop starts.
//!
//! A loop is written once, as a closure. Inlining it into a function with a level's target features compiles it for
//! that level. The environment variable `NUMERIC_TABLE_CPU_LEVEL` (`baseline`, `avx2`, `avx512`) forces a level if the
//! machine has it; many values whose address suits AVX2 better are converted with that instead of AVX-512. Results are
//! the same at every level.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering};

use crate::array::Vectors;

/// A set of instructions that this machine has.
///
/// Invariant: levels above the baseline come only from [`available`](Self::available), which detects them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level(Instructions);

/// Machines other than x86-64 have only the baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum Instructions {
    /// The instructions that the compilation target guarantees.
    Baseline = 1,
    /// AVX2, FMA and F16C, which x86-64-v3 includes.
    #[cfg(target_arch = "x86_64")]
    Avx2 = 2,
    /// AVX-512 F, BW, DQ and VL, which x86-64-v4 includes.
    #[cfg(target_arch = "x86_64")]
    Avx512 = 3,
}

/// The number of the chosen level, or zero before the choice. Small jobs pay for loading one byte.
static CHOSEN: AtomicU8 = AtomicU8::new(0);

impl Level {
    pub(super) const BASELINE: Self = Self(Instructions::Baseline);

    /// Returns whether loops may use AVX2, FMA and F16C.
    #[cfg(target_arch = "x86_64")]
    #[inline]
    pub fn has_avx2(self) -> bool {
        self.0 != Instructions::Baseline
    }

    /// Returns whether loops may use AVX-512 F, BW, DQ and VL as well.
    #[cfg(target_arch = "x86_64")]
    #[inline]
    pub fn has_avx512(self) -> bool {
        self.0 == Instructions::Avx512
    }

    /// Returns this level, or the one with the longest vectors below those of AVX-512.
    pub(super) fn without_avx512(self) -> Self {
        #[cfg(target_arch = "x86_64")]
        if self.has_avx512() {
            return Self(Instructions::Avx2); // detected too (invariant of `Level`)
        }
        self
    }

    /// Returns the instructions that may pack flagged values.
    pub(crate) fn vectors(self) -> Vectors {
        match self.0 {
            Instructions::Baseline => Vectors::None,
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2 => Vectors::Avx2,
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx512 => match is_by_amd() {
                true => Vectors::Avx512InOrder,
                false => Vectors::Avx512,
            },
        }
    }

    /// Returns whether columns that are read side by side are requested: on AMD's processors with AVX-512, which fetch
    /// few values of each by themselves. On Intel's, requests take more time than they save.
    pub(crate) fn requests_columns(self) -> bool {
        #[cfg(target_arch = "x86_64")]
        return self.has_avx512() && is_by_amd();
        #[cfg(not(target_arch = "x86_64"))]
        false
    }

    /// Returns every level of this machine, the best one last.
    pub fn available() -> Vec<Self> {
        #[allow(unused_mut, reason = "only x86-64 has more than one")]
        let mut levels = vec![Self::BASELINE];
        #[cfg(target_arch = "x86_64")]
        {
            let has_avx2 =
                is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") && is_x86_feature_detected!("f16c");
            let has_avx512 = is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl");
            if has_avx2 {
                levels.push(Self(Instructions::Avx2));
            }
            if has_avx2 && has_avx512 {
                levels.push(Self(Instructions::Avx512));
            }
        }
        levels
    }

    fn name(self) -> &'static str {
        match self.0 {
            Instructions::Baseline => "baseline",
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2 => "avx2",
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx512 => "avx512",
        }
    }

    /// Returns the level that a call uses on all its threads: the forced level if the machine has it, otherwise the
    /// best.
    #[inline(always)]
    pub fn chosen() -> Self {
        #[cfg(test)]
        if let Some(forced) = FORCED.get() {
            return forced;
        }
        // No other memory depends on the number, so a relaxed load is enough.
        match CHOSEN.load(Ordering::Relaxed) {
            1 => Self::BASELINE,
            #[cfg(target_arch = "x86_64")]
            2 => Self(Instructions::Avx2),
            #[cfg(target_arch = "x86_64")]
            3 => Self(Instructions::Avx512),
            _ => Self::choose(),
        }
    }

    /// Chooses the level once. Only this function writes [`CHOSEN`].
    #[cold]
    #[inline(never)]
    fn choose() -> Self {
        static ONCE: OnceLock<Level> = OnceLock::new();
        let level = *ONCE.get_or_init(|| {
            let levels = Self::available();
            let forced = std::env::var("NUMERIC_TABLE_CPU_LEVEL").unwrap_or_default();
            let best = levels.last().copied().unwrap_or(Self::BASELINE);
            levels.into_iter().find(|level| level.name() == forced).unwrap_or(best)
        });
        CHOSEN.store(level.0 as u8, Ordering::Relaxed);
        level
    }

    /// Runs a loop, compiled for this level.
    #[inline]
    pub(crate) fn run<R>(self, body: impl FnOnce() -> R) -> R {
        self.run_with((), (), |(), ()| body())
    }

    /// Runs a long loop, compiled for this level.
    #[inline]
    pub fn run_long(self, work: impl LongLoop) {
        match self.0 {
            Instructions::Baseline => work.run(),
            // SAFETY: the machine has the instructions (invariant of `Level`).
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2 => unsafe { long_with_avx2(work) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx512 => unsafe { long_with_avx512(work) },
        }
    }

    /// Runs a loop over two arguments, compiled for this level. Unlike captures, the arguments are passed in registers.
    #[inline]
    pub(crate) fn run_with<A, B, R>(self, a: A, b: B, body: impl FnOnce(A, B) -> R) -> R {
        match self.0 {
            Instructions::Baseline => body(a, b),
            // SAFETY: the machine has the instructions (invariant of `Level`).
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2 => unsafe { with_avx2(a, b, body) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx512 => unsafe { with_avx512(a, b, body) },
        }
    }
}

/// Returns whether the processor is by AMD: no other has SSE4a.
#[cfg(target_arch = "x86_64")]
fn is_by_amd() -> bool {
    is_x86_feature_detected!("sse4a")
}

/// A long loop. A closure of many instructions is called, not inlined, so it is not compiled for a level. A method that
/// is `#[inline(always)]` is.
pub trait LongLoop {
    /// Runs the loop.
    fn run(self);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,f16c")]
fn long_with_avx2(work: impl LongLoop) {
    work.run();
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c")]
fn long_with_avx512(work: impl LongLoop) {
    work.run();
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,f16c")]
fn with_avx2<A, B, R>(a: A, b: B, body: impl FnOnce(A, B) -> R) -> R {
    body(a, b)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c")]
fn with_avx512<A, B, R>(a: A, b: B, body: impl FnOnce(A, B) -> R) -> R {
    body(a, b)
}

#[cfg(test)]
thread_local! {
    static FORCED: std::cell::Cell<Option<Level>> = const { std::cell::Cell::new(None) };
}

/// Makes calls on this thread use the given level while `body` runs.
#[cfg(test)]
pub(crate) fn with_level<R>(level: Level, body: impl FnOnce() -> R) -> R {
    let before = FORCED.replace(Some(level));
    let result = body();
    FORCED.set(before);
    result
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    const EXPECTED: &str = "NUMERIC_TABLE_EXPECTED_CPU_LEVEL";

    /// The test below runs this in a separate process, because the choice is made once per process.
    #[test]
    fn the_chosen_level_is_the_expected_one_if_one_is_expected() {
        if let Ok(expected) = std::env::var(EXPECTED) {
            assert_eq!(Level::chosen().name(), expected);
            assert_eq!(std::thread::spawn(Level::chosen).join().ok(), Some(Level::chosen()), "on every thread");
        }
    }

    #[test]
    fn the_environment_variable_forces_a_level_that_the_machine_has_and_no_other() {
        let levels = Level::available();
        let best = levels.last().unwrap().name();
        for forced in ["baseline", "avx2", "avx512", "", "AVX2", "sse9"] {
            let expected = levels.iter().find(|level| level.name() == forced).map_or(best, |level| level.name());
            let test = "convert::level::tests::the_chosen_level_is_the_expected_one_if_one_is_expected";
            let result = Command::new(std::env::current_exe().unwrap())
                .args(["--exact", test])
                .env("NUMERIC_TABLE_CPU_LEVEL", forced)
                .env(EXPECTED, expected)
                .output()
                .unwrap();
            let printed = String::from_utf8_lossy(&result.stdout);
            assert!(result.status.success() && printed.contains("1 passed"), "{forced}: {printed}");
        }
    }

    #[test]
    fn the_best_level_comes_last_and_the_baseline_is_always_there() {
        let levels = Level::available();
        assert_eq!(levels[0], Level::BASELINE);
        let rank = |level: &Level| ["baseline", "avx2", "avx512"].iter().position(|name| *name == level.name());
        assert!(levels.is_sorted_by_key(rank));
    }

    #[test]
    fn a_forced_level_is_used_until_the_body_ends() {
        for level in Level::available() {
            assert_eq!(with_level(level, Level::chosen), level);
            with_level(level, || assert_eq!(with_level(Level::BASELINE, Level::chosen), Level::BASELINE));
        }
    }
}
