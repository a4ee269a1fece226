//! What controller and engine say to each other, and how two engines open a flow.
//!
//! Pure data: no sockets, no files, no clock. Everything here can be tested without time passing.

mod block;
mod datagram;
pub mod defaults;
mod echo;
mod emulation;
mod frame;
mod handshake;
mod messages;
mod schema;
mod token;

pub use block::{BLOCK_HEADER_BYTES, BlockHeader, BlockKind, NoBlock};
pub use datagram::{DATAGRAM_HEADER_BYTES, DATAGRAM_MAX_BYTES, DatagramHeader, DatagramKind, datagram_tag};
pub use echo::{ECHO_ADDRESS_BYTES, ECHO_HEADER_BYTES, EchoMessage, address_asked};
pub use emulation::{
    DirectionCounters, EmulatedCrossTraffic, EmulatedDevice, EmulatedDirection, EmulatedPauses, EmulatedPolicer,
    Emulation, EmulationCounters, EmulationEvent, emulation_schema,
};
pub use frame::{Frame, FrameError, FrameKind, HEADER_BYTES, MAGIC, MAX_PAYLOAD_BYTES, decode_header, encode};
pub use handshake::{ANSWER_BYTES, HandshakeError, OPENING_BYTES, Opening, RUNNING};
pub use messages::{
    AddressPair, Cache, ClockReading, Connected, Content, CpuTime, Decided, Echo, Encryption, Event, Failed, FarFlow,
    FarSide, FileSettings, FlowEnd, FlowReport, Granted, HeldBy, Hello, HostFacts, Iperf3, Iperf3Login, Listening,
    Mode, MptcpSettings, Nic, PROTOCOL, Part, PathSettings, Phase, PortRange, Prepare, Progress, QuicSettings,
    RejectedConnections, RendezvousRole, Report, Request, Role, Route, RttSettings, Secret, Sync, TcpSettings, Test,
    UdpCounts, UdpSettings, Until, Verify,
};
pub use schema::message_schema;
pub use token::Token;
