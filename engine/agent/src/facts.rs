//! What this host is, as far as it bears on TCP.

use std::{collections::BTreeMap, fs, thread};

use wire::HostFacts;

/// Settings that decide what a TCP flow can do, by their `sysctl` name.
const SYSCTLS: &[&str] = &[
    "net.core.default_qdisc",
    "net.core.netdev_max_backlog",
    "net.core.rmem_default",
    "net.core.rmem_max",
    "net.core.wmem_default",
    "net.core.wmem_max",
    "net.ipv4.tcp_adv_win_scale",
    "net.ipv4.tcp_congestion_control",
    "net.ipv4.tcp_ecn",
    "net.ipv4.tcp_mem",
    "net.ipv4.tcp_moderate_rcvbuf",
    "net.ipv4.tcp_mtu_probing",
    "net.ipv4.tcp_no_metrics_save",
    "net.ipv4.tcp_notsent_lowat",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_sack",
    "net.ipv4.tcp_slow_start_after_idle",
    "net.ipv4.tcp_timestamps",
    "net.ipv4.tcp_window_scaling",
    "net.ipv4.tcp_wmem",
];

/// Reads everything; what cannot be read stays empty.
pub fn host_facts(_peers: &[String]) -> HostFacts {
    let uname = rustix::system::uname();
    HostFacts {
        hostname: uname.nodename().to_string_lossy().into_owned(),
        kernel: uname.release().to_string_lossy().into_owned(),
        architecture: uname.machine().to_string_lossy().into_owned(),
        cpu_model: value_of("/proc/cpuinfo", "model name"),
        cpus: thread::available_parallelism().map_or(0, |count| u32::try_from(count.get()).unwrap_or(u32::MAX)),
        memory_bytes: value_of("/proc/meminfo", "MemTotal").and_then(|text| kibibytes(&text)),
        congestion_default: sysctl("net.ipv4.tcp_congestion_control"),
        congestion_available: sysctl("net.ipv4.tcp_available_congestion_control")
            .map(|names| names.split_whitespace().map(str::to_owned).collect())
            .unwrap_or_default(),
        tcp_info_bytes: tcp_info_bytes(),
        sysctls: sysctls(),
        clock_source: None,
        cpu_governor: None,
        numa_nodes: None,
        nics: Vec::new(),
        routes: BTreeMap::new(),
        engine_version: env!("CARGO_PKG_VERSION").into(),
    }
}

fn sysctls() -> BTreeMap<String, String> {
    SYSCTLS.iter().filter_map(|&name| Some((name.to_owned(), sysctl(name)?))).collect()
}

fn sysctl(name: &str) -> Option<String> {
    let path = format!("/proc/sys/{}", name.replace('.', "/"));
    let text = fs::read_to_string(path).ok()?;
    Some(text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// The value behind the first `key :` line of a `/proc` file.
fn value_of(path: &str, key: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let mut lines = text.lines().filter_map(|line| line.split_once(':'));
    lines.find(|(name, _)| name.trim() == key).map(|(_, value)| value.trim().to_owned())
}

fn kibibytes(text: &str) -> Option<u64> {
    text.strip_suffix(" kB")?.trim().parse::<u64>().ok().map(|kibibytes| kibibytes * 1024)
}

fn tcp_info_bytes() -> u32 {
    let socket = rustix::net::socket(rustix::net::AddressFamily::INET, rustix::net::SocketType::STREAM, None).ok();
    let length = socket.and_then(|socket| sys::tcp_info_length(&socket).ok());
    length.map_or(0, |length| u32::try_from(length).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_host_is_described() {
        let facts = host_facts(&[]);
        assert!(facts.cpus >= 1);
        assert!(facts.memory_bytes.is_some_and(|bytes| bytes > 1 << 20));
        assert!(facts.tcp_info_bytes >= 104);
        assert!(facts.sysctls.contains_key("net.ipv4.tcp_rmem"));
    }

    #[test]
    fn memory_is_read_in_bytes() {
        assert_eq!(kibibytes("24 kB"), Some(24 * 1024));
        assert_eq!(kibibytes("lots"), None);
    }
}
