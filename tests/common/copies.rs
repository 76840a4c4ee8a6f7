//! What becomes of values on their way in or out under each policy: shared, copied, or refused with the reason.

use numeric_table::{
    interop::{CopyPolicy, CopyReason},
    prelude::*,
};

/// What became of the values.
#[derive(Debug, PartialEq)]
pub enum Outcome {
    Shared,
    Copied,
    Refused(CopyReason),
}

/// What came of a call, if the first value went in at an address.
pub fn outcome<R>(result: Result<R, Error>, before: *const f32, first: impl Fn(&R) -> *const f32) -> Outcome {
    match result.map_err(Error::into_kind) {
        Ok(result) if first(&result) == before => Outcome::Shared,
        Ok(_) => Outcome::Copied,
        Err(ErrorKind::CopyRequired { reason }) => Outcome::Refused(reason),
        Err(error) => panic!("{error:?}"),
    }
}

/// As [`outcome`], of a table, whose memory status must agree.
pub fn outcome_of_table(result: Result<HomogenNumericTable<f32>, Error>, before: *const f32) -> Outcome {
    if let Ok(table) = &result {
        let is_shared = table.data_memory_status() == MemoryStatus::UserAllocated;
        assert_eq!(is_shared, table.as_slice().unwrap().as_ptr() == before, "the status tells");
    }
    outcome(result, before, |table| table.as_slice().unwrap().as_ptr())
}

/// Checks one source under every policy.
#[track_caller]
pub fn check(source: &str, reason: Option<CopyReason>, pass: impl Fn(CopyPolicy) -> Outcome) {
    let (never, if_needed) = match reason {
        Some(reason) => (Outcome::Refused(reason), Outcome::Copied),
        None => (Outcome::Shared, Outcome::Shared),
    };
    for (policy, expected) in
        [(CopyPolicy::Never, never), (CopyPolicy::IfNeeded, if_needed), (CopyPolicy::Always, Outcome::Copied)]
    {
        assert_eq!(pass(policy), expected, "{source}, {policy:?}");
    }
}

/// Returns a table of 4 x 3 values.
pub fn table(layout: DataLayout) -> HomogenNumericTable<f32> {
    let values: Vec<f32> = (0..12).map(|value| value as f32).collect();
    HomogenNumericTable::from_array_with_layout(values, Shape { rows: 4, columns: 3 }, layout).unwrap()
}
