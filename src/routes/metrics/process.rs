//! The metrics of the process, from Linux's `/proc`. Where Prometheus's own clients have a metric,
//! its name is the same. If a file is missing or has another format, its metrics are left out.

use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::{Registry, Unit};
use rustix::time::{ClockId, clock_gettime};

/// The number of clock ticks a second in `/proc`, which is the same on every Linux.
const TICKS: f64 = 100.0;

pub(super) fn register(page: &mut Registry) {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let resident = "Memory in use, including the parts of mapped files that were read";
    for (name, field, help) in [
        ("virtual_memory", "VmSize:", "Size of the address space, including mapped files"),
        ("resident_memory", "VmRSS:", resident),
        ("anonymous_memory", "RssAnon:", "Memory in use without mapped files: heap and stacks"),
    ] {
        if let Some(kibibytes) = number_after(&status, field) {
            page.register_with_unit(name, help, Unit::Bytes, ConstGauge::new(kibibytes << 10));
        }
    }
    if let Some(threads) = number_after(&status, "Threads:") {
        page.register("threads", "Number of threads", ConstGauge::new(threads));
    }
    if let Ok(open) = fs::read_dir("/proc/self/fd") {
        // One of the descriptors is open for this listing.
        let open = (open.count() as u64).saturating_sub(1);
        page.register("open_fds", "Number of open files and connections", ConstGauge::new(open));
    }
    let limits = fs::read_to_string("/proc/self/limits").unwrap_or_default();
    if let Some(max) = number_after(&limits, "Max open files") {
        let help = "Maximum number of open files and connections";
        page.register("max_fds", help, ConstGauge::new(max));
    }
    times(page);
}

/// Registers the processor time and the start time.
fn times(page: &mut Registry) {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The program's name is in parentheses and may contain any byte.
    let Some((_, rest)) = stat.rsplit_once(") ") else { return };
    // `rest` begins with the third field of the line (proc_pid_stat(5)).
    let field = |number: usize| rest.split(' ').nth(number - 3)?.parse::<u64>().ok();
    if let (Some(user), Some(system)) = (field(14), field(15)) {
        let seconds = (user + system) as f64 / TICKS;
        let help = "User and system processor time";
        page.register_with_unit("cpu", help, Unit::Seconds, ConstCounter::new(seconds));
    }
    if let (Some(began), Ok(now)) = (field(22), SystemTime::now().duration_since(UNIX_EPOCH)) {
        // The field counts from the boot. `/proc/stat` has the time of the boot too, but a sandbox
        // may hide everything in `/proc` except the processes.
        let since_boot = clock_gettime(ClockId::Boottime);
        let since_boot = since_boot.tv_sec as f64 + since_boot.tv_nsec as f64 / 1e9;
        let began = now.as_secs_f64() - since_boot + began as f64 / TICKS;
        let help = "Start time of the process, in seconds since 1970";
        page.register_with_unit("start_time", help, Unit::Seconds, ConstGauge::new(began));
    }
}

/// The number after `name`, on the line that begins with it.
fn number_after(text: &str, name: &str) -> Option<u64> {
    let rest = text.lines().find_map(|line| line.strip_prefix(name))?;
    rest.split_whitespace().next()?.parse().ok()
}
