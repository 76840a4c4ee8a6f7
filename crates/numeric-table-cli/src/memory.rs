//! How much memory a file may take that is loaded because that is faster.

use std::fs;

/// Where nothing is known about the memory.
const UNKNOWN: u64 = 512 << 20;
/// The share of the free memory that a file may have: whole numbers of few digits take four times as much as their text.
/// While it is loaded, its text and its parts are in memory too.
const SHARE: u64 = 16;

/// Returns the largest size of a text file that is loaded as a whole: a share of the memory that is free, and that the
/// limits of the process and of its control group leave.
pub(crate) fn largest_file() -> u64 {
    let meminfo = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let limits = fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let number = |path| fs::read_to_string(path).ok().and_then(|text| text.trim().parse::<u64>().ok());
    let group = number("/sys/fs/cgroup/memory.max")
        .map(|most| most.saturating_sub(number("/sys/fs/cgroup/memory.current").unwrap_or(0)));
    smallest(&meminfo, &limits, &status, group) / SHARE
}

fn smallest(meminfo: &str, limits: &str, status: &str, group: Option<u64>) -> u64 {
    let after = |text: &str, name: &str| -> Option<u64> {
        let rest = text.lines().find_map(|line| line.strip_prefix(name))?;
        rest.split_whitespace().next()?.parse().ok() // not "unlimited"
    };
    let bytes = |text: &str, name: &str| after(text, name).and_then(|kib| kib.checked_mul(1024));
    // A limit of the process counts what it uses already: the program, its stacks and its heap.
    let left = |limit: &str, used: &str| {
        after(limits, limit).map(|limit| limit.saturating_sub(bytes(status, used).unwrap_or(0)))
    };
    let free = bytes(meminfo, "MemAvailable:");
    let known = [free, left("Max data size", "VmData:"), left("Max address space", "VmSize:"), group];
    known.into_iter().flatten().min().unwrap_or(UNKNOWN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_limit_counts() {
        let meminfo = "MemTotal:       24683100 kB\nMemAvailable:    2048 kB\n";
        let limits = |data: &str| {
            format!(
                "Limit  Soft Limit  Hard Limit  Units\nMax data size             {data}            unlimited bytes\n"
            )
        };
        assert_eq!(smallest(meminfo, &limits("unlimited"), "", None), 2 << 20);
        assert_eq!(smallest(meminfo, &limits("1048576"), "", None), 1 << 20);
        assert_eq!(
            smallest(meminfo, &limits("1048576"), "VmData:\t  1000 kB\n", None),
            24 << 10,
            "what is used counts"
        );
        assert_eq!(smallest(meminfo, &limits("1048576"), "", Some(77)), 77);
        assert_eq!(smallest("", "", "", None), UNKNOWN);
        assert_eq!(smallest("MemAvailable: x kB", "Max data size", "", None), UNKNOWN);
        assert!(largest_file() > 0);
    }
}
