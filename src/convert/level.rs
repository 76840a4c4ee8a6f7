//! Which instructions the loops may use: found out once, and chosen once per call.
//!
//! A loop is written once, as a closure, and compiled for each level by being inlined into a function that has the
//! level's target features. The environment variable `NUMERIC_TABLE_CPU_LEVEL` (`baseline`, `avx2`, `avx512`) forces a
//! level that the machine has; results are the same at every level.

use std::sync::OnceLock;

/// A set of instructions. On other machines than x86-64 there is only the baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
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
    /// Every level that this machine has, the best one last.
    pub(crate) fn available() -> Vec<Self> {
        #[allow(unused_mut, reason = "only x86-64 has more than one")]
        let mut levels = vec![Self::Baseline];
        #[cfg(target_arch = "x86_64")]
        {
            let has_avx2 =
                is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") && is_x86_feature_detected!("f16c");
            let has_avx512 = is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl");
            if has_avx2 {
                levels.push(Self::Avx2);
            }
            if has_avx2 && has_avx512 {
                levels.push(Self::Avx512);
            }
        }
        levels
    }

    fn name(self) -> &'static str {
        match self {
            Self::Baseline => "baseline",
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => "avx2",
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => "avx512",
        }
    }

    /// The level that calls use: the one that is forced, if the machine has it, else the best.
    fn chosen() -> Self {
        static CHOSEN: OnceLock<Level> = OnceLock::new();
        *CHOSEN.get_or_init(|| {
            let levels = Self::available();
            let forced = std::env::var("NUMERIC_TABLE_CPU_LEVEL").unwrap_or_default();
            let best = levels.last().copied().unwrap_or(Self::Baseline);
            levels.into_iter().find(|level| level.name() == forced).unwrap_or(best)
        })
    }

    /// Runs a loop with the instructions of this level, which the machine must have.
    ///
    /// # Safety
    /// The level is one of [`available`](Self::available).
    unsafe fn run<R>(self, body: impl FnOnce() -> R) -> R {
        match self {
            Self::Baseline => body(),
            // SAFETY: the caller promises that the machine has the features.
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => unsafe { with_avx2(body) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => unsafe { with_avx512(body) },
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,f16c")]
fn with_avx2<R>(body: impl FnOnce() -> R) -> R {
    body()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c")]
fn with_avx512<R>(body: impl FnOnce() -> R) -> R {
    body()
}

#[cfg(test)]
thread_local! {
    static FORCED: std::cell::Cell<Option<Level>> = const { std::cell::Cell::new(None) };
}

/// Runs a loop with the best instructions that the machine has.
pub(crate) fn run<R>(body: impl FnOnce() -> R) -> R {
    #[cfg(test)]
    let level = FORCED.get().unwrap_or_else(Level::chosen);
    #[cfg(not(test))]
    let level = Level::chosen();
    // SAFETY: `chosen` picks from `available`, and so does everyone who calls `with_level`, which checks it.
    unsafe { level.run(body) }
}

/// Makes [`run`] use one level on this thread, as long as `body` runs.
#[cfg(test)]
pub(crate) fn with_level<R>(level: Level, body: impl FnOnce() -> R) -> R {
    assert!(Level::available().contains(&level), "the machine has no {}", level.name());
    let before = FORCED.replace(Some(level));
    let result = body();
    FORCED.set(before);
    result
}
