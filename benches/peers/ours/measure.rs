//! Timing of a job: all contenders in turn, each sample after an untimed call. The result is the median.

use std::time::{Duration, Instant};

/// Minimum number of samples of each contender.
const MIN_SAMPLES: usize = 7;
/// Maximum number of samples of each contender.
const MAX_SAMPLES: usize = 51;
/// Between these, sampling ends after this time per contender.
const BUDGET: Duration = Duration::from_millis(200);
/// Minimum time of a sample: short jobs are called several times.
const SAMPLE: Duration = Duration::from_millis(1);

/// The name of a contender, `"ours"` or a peer, and the function that does the job.
pub(crate) type Contender<'a> = (&'static str, &'a mut dyn FnMut());

/// The selection of jobs, their size, and whether they are timed.
pub(crate) struct Bench {
    effort: Effort,
    names: Vec<String>,
    jobs: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Effort {
    /// Large, timed.
    Measure,
    /// Small, timed with few samples.
    Quick,
    /// Small, run once.
    Test,
}

impl Bench {
    /// Reads the command line. Cargo passes `--bench` to benches, and nothing when it runs them as tests.
    pub(crate) fn from_arguments(arguments: impl Iterator<Item = String>) -> Self {
        let (flags, names): (Vec<_>, Vec<_>) = arguments.partition(|argument| argument.starts_with("--"));
        let has = |flag: &str| flags.iter().any(|given| given == flag);
        let effort = match (has("--quick"), has("--bench") && !has("--test")) {
            (true, _) => Effort::Quick,
            (false, true) => Effort::Measure,
            (false, false) => Effort::Test,
        };
        Self { effort, names, jobs: 0 }
    }

    /// Returns the number of values in a large job.
    pub(crate) fn values(&self) -> usize {
        if self.is_small() { 1 << 18 } else { 16 << 20 }
    }

    /// Returns whether jobs are small.
    pub(crate) fn is_small(&self) -> bool {
        self.effort != Effort::Measure
    }

    /// Returns whether to run a job.
    pub(crate) fn wants(&self, job: &str) -> bool {
        self.names.is_empty() || self.names.iter().any(|name| job.contains(name.as_str()))
    }

    /// Times the contenders in turn and prints their medians. One call of each does the job `executions` times.
    pub(crate) fn compare(&mut self, job: &str, executions: usize, contenders: &mut [Contender<'_>]) {
        self.jobs += 1;
        contenders.iter_mut().for_each(|(_, run)| run()); // the warm-up; a test ends here
        let (least, most) = match self.effort {
            Effort::Measure => (MIN_SAMPLES, MAX_SAMPLES),
            Effort::Quick => (3, 3),
            Effort::Test => return,
        };
        let calls: Vec<u32> = contenders.iter_mut().map(|(_, run)| calls_per_sample(*run)).collect();
        let mut samples = vec![Vec::new(); contenders.len()];
        let end = Instant::now() + BUDGET * u32::try_from(contenders.len()).unwrap_or(u32::MAX);
        for sample in 0..most {
            if sample >= least && Instant::now() >= end {
                break;
            }
            for (((_, run), &calls), samples) in contenders.iter_mut().zip(&calls).zip(&mut samples) {
                run(); // the same job has just run, as in the other programs: threads are awake
                samples.push(time(*run, calls) / f64::from(calls) / executions as f64);
            }
        }
        for ((peer, _), mut samples) in contenders.iter().zip(samples) {
            samples.sort_by(f64::total_cmp);
            println!("{job}\t{peer}\t{:e}", samples[samples.len() / 2]);
        }
    }

    /// Prints the number of jobs after a test, its only output.
    pub(crate) fn finish(&self) {
        if self.effort == Effort::Test {
            println!("{} jobs ran and gave right answers", self.jobs);
        }
    }
}

/// Returns the number of calls in a sample.
fn calls_per_sample(run: &mut dyn FnMut()) -> u32 {
    let mut calls = 1;
    while time(run, calls) < SAMPLE.as_secs_f64() {
        calls *= 2;
    }
    calls
}

/// Returns the time of `calls` calls together, in seconds.
fn time(run: &mut dyn FnMut(), calls: u32) -> f64 {
    let start = Instant::now();
    for _ in 0..calls {
        run();
    }
    start.elapsed().as_secs_f64()
}
