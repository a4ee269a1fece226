//! What an engine sees of its host.

use std::{collections::BTreeMap, net::IpAddr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What an engine sees of its host. Whatever cannot be read stays empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostFacts {
    /// Name the kernel has for the host.
    pub hostname: String,
    /// Kernel release, as `uname -r` prints it.
    pub kernel: String,
    /// Machine architecture, as `uname -m` prints it.
    pub architecture: String,
    /// CPU model name.
    pub cpu_model: Option<String>,
    /// CPUs this engine may run on.
    pub cpus: u32,
    /// Memory of the host, in bytes.
    pub memory_bytes: Option<u64>,
    /// Congestion control a socket has when none is asked for.
    pub congestion_default: Option<String>,
    /// Congestion controls that may be asked for.
    pub congestion_available: Vec<String>,
    /// Bytes of `TCP_INFO` this kernel returns.
    pub tcp_info_bytes: u32,
    /// The kernel's settings that matter for TCP, by their `sysctl` name, as the kernel prints them.
    pub sysctls: BTreeMap<String, String>,
    /// What the kernel keeps time with, such as `tsc`.
    pub clock_source: Option<String>,
    /// CPU frequency governor; several, separated by commas, where CPUs differ.
    pub cpu_governor: Option<String>,
    /// NUMA nodes.
    pub numa_nodes: Option<u32>,
    /// Network devices, loopback included.
    pub nics: Vec<Nic>,
    /// Routes to the peers that were named in the request, by the name that was used there.
    pub routes: BTreeMap<String, Route>,
    /// Version of the engine.
    pub engine_version: String,
}

/// A network device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Nic {
    /// The kernel's name for it.
    pub name: String,
    /// Its driver.
    pub driver: Option<String>,
    /// Speed of the link, in Mbit/s.
    pub speed_mbps: Option<u64>,
    /// Largest packet, in bytes.
    pub mtu_bytes: Option<u32>,
    /// NUMA node it is attached to.
    pub numa_node: Option<u32>,
    /// Receive queues.
    pub rx_queues: u32,
    /// Transmit queues.
    pub tx_queues: u32,
    /// Queueing disciplines of its transmit side, the root first.
    pub qdiscs: Vec<String>,
    /// Offloads, by the kernel's name for them, and whether they are on.
    pub offloads: BTreeMap<String, bool>,
}

/// How packets to a peer leave a host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Route {
    /// Address of the peer, once its name is resolved.
    pub address: IpAddr,
    /// Device they leave by.
    pub device: String,
    /// First router; absent for a peer on the same link.
    pub gateway: Option<IpAddr>,
    /// Address they are sent from.
    pub source: Option<IpAddr>,
    /// Largest packet of the route, where one is set, in bytes.
    pub mtu_bytes: Option<u32>,
}
