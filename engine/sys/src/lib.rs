//! The kernel's own words: what neither the standard library nor `socket2` and `rustix` reach.
//!
//! The only crate of the workspace in which `unsafe` is allowed.

mod cc_info;
mod control_message;
mod datagram;
mod ethtool;
mod link;
mod mptcp;
mod netns;
mod pages;
mod readahead;
mod receive_batch;
mod recverr;
mod send_queue;
mod signals;
mod sockopt;
mod tcp_info;
mod thread;
mod touch;
mod tun;
mod udp;
mod writeback;

pub use cc_info::{BbrInfo, bbr_info};
pub use datagram::{
    Ancillary, Datagram, disable_ancillary, enable_ancillary, forbid_fragments, path_mtu, receive_datagram,
};
pub use ethtool::Ethtool;
pub use mptcp::{MptcpInfo, Subflow, mptcp_info};
pub use netns::in_network_namespace;
pub use pages::{ConstantPages, Pages, PagesPart};
pub use readahead::read_into_cache;
pub use receive_batch::{RECEIVE_BATCH_MAX, ReceiveBatch, Received};
pub use recverr::{IcmpError, IcmpErrorKind, receive_icmp_error};
pub use send_queue::unacknowledged_bytes;
pub use signals::termination_signals;
pub use sockopt::set_max_pacing_rate;
pub use tcp_info::{FIELDS, Field, Kind, TCP_INFO_BYTES, TcpInfo, tcp_info, tcp_info_length};
pub use thread::{ThreadCpu, bind_to_cpu, take_realtime_priority, thread_cpu};
pub use touch::touch;
pub use tun::{VNET_HEADER_BYTES, make_tun};
pub use udp::{set_udp_gro, set_udp_segment, socket_drops, udp_gro};
pub use writeback::begin_writeback;
