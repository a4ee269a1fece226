//! CPU, memory and clock.

use std::{collections::BTreeSet, fs};

use super::settings::one_line;

const CPUS: &str = "/sys/devices/system/cpu";

/// Model of the first CPU.
pub fn cpu_model() -> Option<String> {
    value_of(&fs::read_to_string("/proc/cpuinfo").ok()?, "model name")
}

/// Memory of the host.
pub fn memory_bytes() -> Option<u64> {
    kibibytes(&value_of(&fs::read_to_string("/proc/meminfo").ok()?, "MemTotal")?)
}

/// What the kernel keeps time with.
pub fn clock_source() -> Option<String> {
    one_line("/sys/devices/system/clocksource/clocksource0/current_clocksource")
}

/// Frequency governor; several, separated by commas, where CPUs differ. A virtual machine has none.
pub fn cpu_governor() -> Option<String> {
    let folders = numbered(CPUS, "cpu");
    let governors = folders.iter().filter_map(|cpu| one_line(&format!("{CPUS}/{cpu}/cpufreq/scaling_governor")));
    let governors: BTreeSet<String> = governors.collect();
    (!governors.is_empty()).then(|| governors.into_iter().collect::<Vec<_>>().join(","))
}

/// NUMA nodes.
pub fn numa_nodes() -> Option<u32> {
    u32::try_from(numbered("/sys/devices/system/node", "node").len()).ok().filter(|&count| count > 0)
}

/// The entries of a folder that are a word and a number.
fn numbered(folder: &str, word: &str) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let is_number = |rest: &str| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit());
    names.filter(|name| name.strip_prefix(word).is_some_and(is_number)).collect()
}

/// The value behind the first `key :` line of a `/proc` file.
fn value_of(text: &str, key: &str) -> Option<String> {
    let mut lines = text.lines().filter_map(|line| line.split_once(':'));
    lines.find(|(name, _)| name.trim() == key).map(|(_, value)| value.trim().to_owned())
}

fn kibibytes(text: &str) -> Option<u64> {
    text.strip_suffix(" kB")?.trim().parse::<u64>().ok().map(|kibibytes| kibibytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_read_in_bytes() {
        assert_eq!(value_of("MemFree: 1 kB\nMemTotal:       24 kB\n", "MemTotal").as_deref(), Some("24 kB"));
        assert_eq!(kibibytes("24 kB"), Some(24 * 1024));
        assert_eq!(kibibytes("lots"), None);
    }

    #[test]
    fn this_host_keeps_time_and_has_cpus() {
        assert!(clock_source().is_some_and(|name| !name.is_empty()));
        assert!(numbered(CPUS, "cpu").contains(&"cpu0".to_owned()));
        assert!(!numbered(CPUS, "cpu").contains(&"cpuidle".to_owned()));
    }
}
