//! Makes traffic and measures it. Knows one end of one trial; nothing of plans, sweeps or archives.

mod address;
mod beat;
mod control;
mod coordinator;
pub mod defaults;
mod error;
mod file;
mod flow;
mod granted_window;
mod halt;
mod host;
mod iperf3_client;
mod jitter;
mod kernel_time;
pub mod known;
mod limits;
mod mptcp;
mod netlink;
mod origin;
pub mod pacing;
mod path;
mod progress;
mod quic;
mod rendezvous;
mod rtt;
mod samples;
mod task;
mod tcp;
mod threads;
mod time;
mod tls;
mod trial;
mod udp;

/// What is known of datagrams, for whoever counts or sends them elsewhere.
pub mod datagrams {
    pub use crate::{
        jitter::Jitter,
        kernel_time::KernelTime,
        rendezvous::ways,
        udp::{
            Arrival, Pace, Sequence,
            outgoing::{Outgoing, PacketFormat},
            packet_format::Iperf3,
            socket::segment,
        },
    };
}

pub use address::resolve;
pub use control::{Control, Guard};
pub use error::TrialError;
pub use file::{DeviceRow, StorageRow};
pub use host::{CpuRow, rtnetlink};
pub use mptcp::SubflowRow;
pub use path::{HopRow, TrainRow};
pub use quic::{QuicRow, StreamRow};
pub use rendezvous::{Rendezvous, RendezvousParameters, meet};
pub use rtt::EchoRow;
pub use samples::{Sample, SampleBatch, Tabular, schema_json};
pub use task::Task;
pub use trial::{AddedTest, carry_out};
pub use udp::{DatagramRow, HistogramRow};

use wire::Event;

/// Where one end of a trial says how it goes. Implementations must not block for long: samplers call it.
pub trait Outbox: Sync {
    /// Hands over one message.
    fn event(&self, event: Event);
    /// Hands over one complete Arrow IPC stream of samples.
    fn samples(&self, stream: SampleBatch);
}
