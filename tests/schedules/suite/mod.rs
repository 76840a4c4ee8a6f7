//! The claims, each under random schedules and under schedules with few changes of thread.

mod crew;
mod device;
mod lease;

/// Checks a claim under schedules of both kinds.
pub(crate) fn check(name: &str, claim: fn()) {
    let count = std::env::var("NUMERIC_TABLE_SCHEDULES").map_or(300, |number| number.parse().unwrap());
    shuttle::check_random(claim, count);
    shuttle::check_pct(claim, count, 3);
    println!("{} inputs: schedules of \"{name}\"", 2 * count);
}
