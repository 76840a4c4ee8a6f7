//! A simulation of a million shards on up to 30,000 workers: where each way of dividing the work reaches its limit.
//!
//! ```text
//! cargo run --release --example scale_simulation            # a million shards
//! cargo run --release --example scale_simulation -- 100000  # any other number
//! ```
//!
//! `docs/scale.md` describes the simulation and its parameters. Nothing is measured: times are those of the simulated
//! clock, and the same in each run.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The parameters of a job. Times are in seconds.
struct Model {
    shards: usize,
    /// Mean time of one shard on one worker. The logarithm of the time varies by `SPREAD`.
    shard: f64,
    /// Time to read one result and merge it.
    merge: f64,
    /// Mean time until a worker dies.
    life: f64,
    /// Time until a dead worker, or a job with a dead worker, works again.
    restart: f64,
    /// Number of bytes of a result.
    size: usize,
    /// Share of shards that take `SLOW` times as long: a bad disk, a busy neighbor.
    slow: f64,
}

const SPREAD: f64 = 0.2;
const SLOW: f64 = 10.0;
/// Number of deaths after which a job of processes is given up.
const DEATHS: usize = 1_000;

/// The results of a simulation.
struct Outcome {
    seconds: f64,
    /// Maximum number of results that waited for their turn to be merged.
    held: usize,
    deaths: usize,
}

/// Random numbers that are the same on every machine: splitmix64.
struct Random(u64);

impl Random {
    /// Returns a number in (0, 1].
    fn number(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (((z ^ (z >> 31)) >> 11) + 1) as f64 / (1_u64 << 53) as f64
    }

    fn exponential(&mut self, mean: f64) -> f64 {
        -mean * self.number().ln()
    }

    fn normal(&mut self) -> f64 {
        (-2.0 * self.number().ln()).sqrt() * (std::f64::consts::TAU * self.number()).cos()
    }
}

impl Model {
    /// Draws the time of a shard.
    fn time(&self, random: &mut Random) -> f64 {
        let usual = self.shard * (SPREAD * random.normal() - SPREAD * SPREAD / 2.0).exp();
        if random.number() <= self.slow { usual * SLOW } else { usual }
    }

    /// Returns the time without spread, deaths and merging, if all workers are always busy.
    fn ideal(&self, workers: usize) -> f64 {
        let mean = self.shard * (1.0 + self.slow * (SLOW - 1.0));
        mean * self.shards as f64 / workers as f64
    }

    /// Returns the number of shards in a run, as in `Shards::runs`. The worker that computes a run merges its results.
    fn run(&self) -> usize {
        self.shards.div_ceil(if self.size > 64 << 10 { 4 << 10 } else { 16 << 10 }).next_power_of_two()
    }

    /// Draws the time of a task: computing a run of shards and merging their results.
    fn task(&self, run: usize, random: &mut Random) -> f64 {
        let merging = if run > 1 { self.merge * run as f64 } else { 0.0 };
        merging + (0..run).map(|_| self.time(random)).sum::<f64>()
    }

    /// MPI processes: rank `i % workers` computes task `i`. A process that dies ends the job. The job restarts with the
    /// saved results, and every rank repeats its unfinished task.
    fn ranks(&self, workers: usize, run: usize) -> Outcome {
        let (mut random, mut deaths, mut begin) = (Random(1), 0, 0.0);
        let mut arrived = vec![0.0; self.shards.div_ceil(run)];
        let mut next: Vec<usize> = (0..workers.min(arrived.len())).collect(); // the task of each rank
        loop {
            let death = begin + random.exponential(self.life / workers as f64);
            for task in &mut next {
                let mut now = begin;
                while *task < arrived.len() {
                    now += self.task(run, &mut random);
                    if now > death {
                        break;
                    }
                    arrived[*task] = now;
                    *task += workers;
                }
            }
            if next.iter().all(|&task| task >= arrived.len()) || deaths == DEATHS {
                break;
            }
            deaths += 1;
            begin = death + self.restart;
        }
        let (seconds, held) = self.merged_in_order(&arrived);
        Outcome { seconds: if deaths < DEATHS { seconds } else { f64::INFINITY }, held, deaths }
    }

    /// A queue: a free worker takes the next task. A worker that dies comes back and finishes its task then. `twice`:
    /// when no task is left, a free worker repeats an unfinished one, and the first result counts.
    fn queue(&self, workers: usize, twice: bool, run: usize) -> Outcome {
        let (mut random, mut deaths, mut arrived) = (Random(2), 0, vec![0.0_f64; self.shards.div_ceil(run)]);
        let order = |time: f64| Reverse(time.to_bits()); // positive numbers are ordered like their bits
        let mut free: BinaryHeap<_> = (0..workers).map(|worker| (order(0.0), worker)).collect();
        let mut life: Vec<f64> = (0..workers).map(|_| random.exponential(self.life)).collect();
        let mut last_begin = 0.0;
        for arrived in &mut arrived {
            let Some((Reverse(bits), worker)) = free.pop() else { break };
            let begin = f64::from_bits(bits);
            last_begin = begin;
            let mut end = begin + self.task(run, &mut random);
            while end > life[worker] {
                deaths += 1;
                let again = life[worker].max(begin) + self.restart;
                life[worker] = again + random.exponential(self.life);
                end = again + self.task(run, &mut random);
            }
            *arrived = end;
            free.push((order(end), worker));
        }
        if twice {
            // The tasks in progress when the queue is empty, the latest first; helpers in the order they become free.
            let mut open: Vec<usize> = (0..arrived.len()).filter(|&task| arrived[task] > last_begin).collect();
            open.sort_by(|&a, &b| arrived[b].total_cmp(&arrived[a]));
            let mut helpers: Vec<f64> = free.into_iter().map(|(Reverse(bits), _)| f64::from_bits(bits)).collect();
            helpers.sort_by(f64::total_cmp);
            for (task, helper) in open.into_iter().zip(helpers) {
                if helper < arrived[task] {
                    arrived[task] = arrived[task].min(helper.max(last_begin) + self.task(run, &mut random));
                }
            }
        }
        let (seconds, held) = self.merged_in_order(&arrived);
        Outcome { seconds, held, deaths }
    }

    /// Merges results in the order of the shards. Returns the time of the last merge, and the maximum number of waiting
    /// results.
    fn merged_in_order(&self, arrived: &[f64]) -> (f64, usize) {
        let mut by_time: Vec<f64> = arrived.to_vec();
        by_time.sort_by(f64::total_cmp);
        let (mut now, mut here, mut held) = (0.0_f64, 0, 0);
        for (merged, &time) in arrived.iter().enumerate() {
            now = now.max(time);
            while here < by_time.len() && by_time[here] <= now {
                here += 1;
            }
            held = held.max(here - merged);
            now += self.merge;
        }
        (now, held)
    }
}

fn main() {
    let shards = std::env::args().nth(1).and_then(|count| count.parse().ok()).unwrap_or(1_000_000_usize).max(1);
    let day = 86_400.0;
    let calm = Model { shards, shard: 0.2, merge: 2.5e-6, size: 1542, life: f64::INFINITY, restart: 0.0, slow: 0.0 };
    report("0.2 s each; no deaths; results of 2 KB", &calm);
    let usual = Model { life: 30.0 * day, restart: 60.0, slow: 0.001, ..calm };
    report("1 in 1000 takes 2 s; a worker dies in 30 days and is back in 60 s", &usual);
    let rough = Model { life: day, slow: 0.01, ..usual };
    report("1 in 100 takes 2 s; a worker dies every day", &rough);
    let large = Model { merge: 5.7e-3, size: 4_024_120, ..usual };
    report("as the second, with results of 4 MB: covariances of 1000 columns", &large);
}

fn report(title: &str, model: &Model) {
    println!("{} shards, in runs of {}: {title}", model.shards, model.run());
    println!("                      % of the ideal speed with                deaths   results");
    println!("  workers   ideal, s   ranks  in runs   queue  in runs   twice  of ranks      held");
    for workers in [1, 10, 100, 1_000, 10_000, 30_000] {
        let ideal = model.ideal(workers);
        let ways = [
            model.ranks(workers, 1),
            model.ranks(workers, model.run()),
            model.queue(workers, false, 1),
            model.queue(workers, false, model.run()),
            model.queue(workers, true, 1),
        ];
        let shares = ways.each_ref().map(|way| format!("{:8.1}", 100.0 * ideal / way.seconds)).concat();
        println!("{workers:9} {ideal:10.0}{shares} {:10} {:9}", ways[0].deaths, ways[4].held);
    }
    println!();
}
