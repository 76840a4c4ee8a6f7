//! Which instructions the loops may use: found out once, and chosen once per call.
//!
//! A loop is written once, as a closure, and compiled for each level by being inlined into a function that has the
//! level's target features. The environment variable `NUMERIC_TABLE_CPU_LEVEL` (`baseline`, `avx2`, `avx512`) forces a
//! level that the machine has; results are the same at every level.

use std::sync::OnceLock;

/// A set of instructions that this machine has.
///
/// Invariant: values are made by [`available`](Self::available) only, which asks the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Level(Instructions);

/// On other machines than x86-64 there is only the baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Instructions {
    /// What the compilation target guarantees.
    Baseline,
    /// AVX2, FMA and F16C: x86-64-v3.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// AVX-512 F, BW, DQ and VL: x86-64-v4.
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Level {
    pub(super) const BASELINE: Self = Self(Instructions::Baseline);

    #[cfg(target_arch = "x86_64")]
    #[inline]
    pub(super) fn has_avx2(self) -> bool {
        self.0 != Instructions::Baseline
    }

    #[cfg(target_arch = "x86_64")]
    #[inline]
    pub(super) fn has_avx512(self) -> bool {
        self.0 == Instructions::Avx512
    }

    /// Every level that this machine has, the best one last.
    pub(crate) fn available() -> Vec<Self> {
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

    /// The level that a call uses, on whatever threads: the one that is forced, if the machine has it, else the best.
    #[inline]
    pub(crate) fn chosen() -> Self {
        #[cfg(test)]
        if let Some(forced) = FORCED.get() {
            return forced;
        }
        static CHOSEN: OnceLock<Level> = OnceLock::new();
        *CHOSEN.get_or_init(|| {
            let levels = Self::available();
            let forced = std::env::var("NUMERIC_TABLE_CPU_LEVEL").unwrap_or_default();
            let best = levels.last().copied().unwrap_or(Self::BASELINE);
            levels.into_iter().find(|level| level.name() == forced).unwrap_or(best)
        })
    }

    /// Runs a loop, compiled for this level.
    #[inline]
    pub(crate) fn run<R>(self, body: impl FnOnce() -> R) -> R {
        self.run_with((), (), |(), ()| body())
    }

    /// Runs a loop over two things, compiled for this level. They travel in registers, which captures do not.
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

/// Makes calls on this thread use one level, as long as `body` runs.
#[cfg(test)]
pub(crate) fn with_level<R>(level: Level, body: impl FnOnce() -> R) -> R {
    let before = FORCED.replace(Some(level));
    let result = body();
    FORCED.set(before);
    result
}
