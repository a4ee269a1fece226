//! Datagrams as an iperf3 server expects them.

use iperf3::Counter;

use crate::{
    origin::Origin,
    udp::{packet_format::Iperf3, source::Kind, stream::UdpFlow},
};

/// Numbers do not run out.
pub const COUNTER: Counter = Counter::Wide;

/// A stream's datagrams: numbers, and nothing behind them.
pub type Numbered = Iperf3<[u8; 0]>;

impl Kind for Numbered {
    fn of(_: &UdpFlow, _: Origin) -> Self {
        Self { counter: COUNTER, payload: [] }
    }

    /// The end is signalled over the control connection.
    const SIGNALS_END: bool = false;
}
