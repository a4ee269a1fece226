//! The kernel's settings that decide what a TCP flow can do.

use std::{collections::BTreeMap, fs};

/// By their `sysctl` name; what a kernel does not have is left out.
const SYSCTLS: &[&str] = &[
    "net.core.busy_poll",
    "net.core.busy_read",
    "net.core.default_qdisc",
    "net.core.dev_weight",
    "net.core.netdev_budget",
    "net.core.netdev_budget_usecs",
    "net.core.netdev_max_backlog",
    "net.core.optmem_max",
    "net.core.rmem_default",
    "net.core.rmem_max",
    "net.core.rps_sock_flow_entries",
    "net.core.wmem_default",
    "net.core.wmem_max",
    "net.ipv4.tcp_adv_win_scale",
    "net.ipv4.tcp_allowed_congestion_control",
    "net.ipv4.tcp_app_win",
    "net.ipv4.tcp_autocorking",
    "net.ipv4.tcp_base_mss",
    "net.ipv4.tcp_comp_sack_delay_ns",
    "net.ipv4.tcp_comp_sack_nr",
    "net.ipv4.tcp_comp_sack_slack_ns",
    "net.ipv4.tcp_congestion_control",
    "net.ipv4.tcp_dsack",
    "net.ipv4.tcp_early_retrans",
    "net.ipv4.tcp_ecn",
    "net.ipv4.tcp_frto",
    "net.ipv4.tcp_limit_output_bytes",
    "net.ipv4.tcp_max_reordering",
    "net.ipv4.tcp_mem",
    "net.ipv4.tcp_min_rtt_wlen",
    "net.ipv4.tcp_min_tso_segs",
    "net.ipv4.tcp_moderate_rcvbuf",
    "net.ipv4.tcp_mtu_probing",
    "net.ipv4.tcp_no_metrics_save",
    "net.ipv4.tcp_no_ssthresh_metrics_save",
    "net.ipv4.tcp_notsent_lowat",
    "net.ipv4.tcp_pacing_ca_ratio",
    "net.ipv4.tcp_pacing_ss_ratio",
    "net.ipv4.tcp_recovery",
    "net.ipv4.tcp_reordering",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_sack",
    "net.ipv4.tcp_shrink_window",
    "net.ipv4.tcp_slow_start_after_idle",
    "net.ipv4.tcp_timestamps",
    "net.ipv4.tcp_tso_rtt_log",
    "net.ipv4.tcp_tso_win_divisor",
    "net.ipv4.tcp_window_scaling",
    "net.ipv4.tcp_wmem",
    "net.ipv4.tcp_workaround_signed_windows",
    "net.mptcp.available_schedulers",
    "net.mptcp.blackhole_timeout",
    "net.mptcp.checksum_enabled",
    "net.mptcp.scheduler",
    "net.mptcp.stale_loss_cnt",
];

/// Kernel modules whose parameters belong to the settings, as `tcp_cubic.hystart`.
const MODULES: &[&str] = &["tcp_cubic", "tcp_bbr", "tcp_dctcp", "tcp_vegas"];

/// All of them that this kernel has, as it prints them.
pub fn settings() -> BTreeMap<String, String> {
    let sysctls = SYSCTLS.iter().filter_map(|&name| Some((name.to_owned(), setting(name)?)));
    sysctls.chain(MODULES.iter().flat_map(|module| parameters(module))).collect()
}

/// One of them, in one line.
pub fn setting(name: &str) -> Option<String> {
    one_line(&format!("/proc/sys/{}", name.replace('.', "/")))
}

/// The text of a small file in one line.
pub fn one_line(path: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    Some(text.split_whitespace().collect::<Vec<_>>().join(" "))
}

fn parameters(module: &str) -> Vec<(String, String)> {
    let folder = format!("/sys/module/{module}/parameters");
    let Ok(entries) = fs::read_dir(&folder) else { return Vec::new() };
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    names.filter_map(|name| Some((format!("{module}.{name}"), one_line(&format!("{folder}/{name}"))?))).collect()
}
