//! What this host is, as far as it bears on TCP.

mod machine;
mod nic;
mod route;
mod settings;

use std::thread;

use wire::HostFacts;

pub use self::route::PEERS_MAX;
use self::settings::setting;

/// Reads everything; what cannot be read stays empty. The routes are those to `peers`, names or addresses.
pub fn host_facts(peers: &[String]) -> HostFacts {
    let uname = rustix::system::uname();
    let links = traffic::rtnetlink::links().unwrap_or_default();
    HostFacts {
        hostname: uname.nodename().to_string_lossy().into_owned(),
        kernel: uname.release().to_string_lossy().into_owned(),
        architecture: uname.machine().to_string_lossy().into_owned(),
        cpu_model: machine::cpu_model(),
        cpus: thread::available_parallelism().map_or(0, |count| u32::try_from(count.get()).unwrap_or(u32::MAX)),
        memory_bytes: machine::memory_bytes(),
        congestion_default: setting("net.ipv4.tcp_congestion_control"),
        congestion_available: setting("net.ipv4.tcp_available_congestion_control")
            .map(|names| names.split_whitespace().map(str::to_owned).collect())
            .unwrap_or_default(),
        tcp_info_bytes: tcp_info_bytes(),
        sysctls: settings::settings(),
        clock_source: machine::clock_source(),
        cpu_governor: machine::cpu_governor(),
        numa_nodes: machine::numa_nodes(),
        nics: nic::nics(&links),
        routes: route::routes(peers, &links),
        engine_version: env!("CARGO_PKG_VERSION").into(),
    }
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
        let facts = host_facts(&["127.0.0.1".into(), "no such name".into()]);
        assert!(facts.cpus >= 1);
        assert!(facts.memory_bytes.is_some_and(|bytes| bytes > 1 << 20));
        assert!(facts.tcp_info_bytes >= 104);
        assert!(facts.sysctls.contains_key("net.ipv4.tcp_rmem"));
        let lo = facts.nics.iter().find(|nic| nic.name == "lo").unwrap();
        assert_eq!(lo.offloads.get("tx-tcp-segmentation"), Some(&true));
        assert!(lo.mtu_bytes.is_some() && lo.tx_queues >= 1);
        let routes: Vec<_> = facts.routes.iter().map(|(peer, route)| (peer.as_str(), route.device.as_str())).collect();
        assert_eq!(routes, [("127.0.0.1", "lo")]);
    }
}
