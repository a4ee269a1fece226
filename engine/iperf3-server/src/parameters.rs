//! The parameters of a test, derived from those that its client sent.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use iperf3::{Counter, Params, Protocol, Refusal};

use crate::defaults::WRITE_BYTES;

/// The parameters of a test.
#[derive(Clone, Debug)]
pub struct TestParameters {
    /// What flows.
    pub protocol: Protocol,
    /// Streams that come from the client; they are opened first.
    pub receiving: u32,
    /// Streams that go to it.
    pub sending: u32,
    /// Length of a write.
    pub write_bytes: usize,
    /// Rate of each stream's writes, in bit/s; nothing: none.
    pub rate_bps: Option<u64>,
    /// Writes that may follow each other at once under a rate.
    pub burst: u64,
    /// What ends it beside time.
    pub amount: Amount,
    /// Its beginning that is left out.
    pub omit: Duration,
    /// How long it lasts after that; nothing: until the amount is reached.
    pub duration: Option<Duration>,
    /// How wide the numbers of datagrams are.
    pub counter: Counter,
}

/// What ends a test beside time; over all streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// Nothing.
    Any,
    /// So many bytes.
    Bytes(u64),
    /// So many writes.
    Writes(u64),
}

impl TestParameters {
    /// From the parameters that a client sent; checked.
    ///
    /// # Errors
    /// [`Refusal`] if it is neither TCP nor UDP.
    pub fn of(params: &Params) -> Result<Self, Refusal> {
        let streams = params.streams();
        let (receiving, sending) = match (params.reverse, params.bidirectional) {
            (_, true) => (streams, streams),
            (true, false) => (0, streams),
            (false, false) => (streams, 0),
        };
        let amount = match (params.num.unwrap_or(0), params.blockcount.unwrap_or(0)) {
            (0, 0) => Amount::Any,
            (0, writes) => Amount::Writes(writes),
            (bytes, _) => Amount::Bytes(bytes),
        };
        let seconds = |value: Option<u32>| Duration::from_secs(value.unwrap_or(0).into());
        Ok(Self {
            protocol: params.protocol()?,
            receiving,
            sending,
            write_bytes: params.len.unwrap_or(WRITE_BYTES) as usize,
            rate_bps: params.bandwidth.filter(|rate| *rate > 0),
            burst: params.burst.unwrap_or(1).max(1).into(),
            amount,
            omit: seconds(params.omit),
            duration: params.time.filter(|time| *time > 0).map(|time| seconds(Some(time))),
            counter: if params.udp_counters_64bit { Counter::Wide } else { Counter::Narrow },
        })
    }

    /// In words, for people.
    #[must_use]
    pub fn direction(&self) -> &'static str {
        match (self.receiving, self.sending) {
            (_, 0) => "normal",
            (0, _) => "reverse",
            _ => "bidirectional",
        }
    }
}

/// What the streams that send may still send, together.
pub struct Budget {
    amount: Amount,
    claimed: AtomicU64,
}

impl Budget {
    /// Of a test. Without an end by amount, or where a beginning is left out, whose bytes do not count, the client ends
    /// it; so it does where datagrams may be lost.
    #[must_use]
    pub fn of(parameters: &TestParameters) -> Self {
        let counted = parameters.omit.is_zero() && parameters.protocol == Protocol::Tcp;
        Self { amount: if counted { parameters.amount } else { Amount::Any }, claimed: AtomicU64::new(0) }
    }

    /// Whether one more write of so many bytes is wanted. The last one is whole, as iperf3's is.
    pub fn claim(&self, bytes: usize) -> bool {
        let (unit, most) = match self.amount {
            Amount::Any => return true,
            Amount::Bytes(most) => (bytes as u64, most),
            Amount::Writes(most) => (1, most),
        };
        // Once there is enough it is not counted on: the sum cannot run over.
        self.claimed.load(Ordering::Relaxed) < most && self.claimed.fetch_add(unit, Ordering::Relaxed) < most
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameters(params: Params) -> TestParameters {
        TestParameters::of(&Params { tcp: true, ..params }).unwrap()
    }

    #[test]
    fn directions_are_the_clients() {
        let four = Params { parallel: Some(4), ..Params::default() };
        let roles = |params: Params| (parameters(params.clone()).receiving, parameters(params).sending);
        assert_eq!(roles(four.clone()), (4, 0));
        assert_eq!(roles(Params { reverse: true, ..four.clone() }), (0, 4));
        assert_eq!(roles(Params { bidirectional: true, ..four }), (4, 4));
    }

    #[test]
    fn the_last_write_is_whole() {
        let budget = Budget::of(&parameters(Params { num: Some(250), ..Params::default() }));
        assert_eq!((0..9).filter(|_| budget.claim(100)).count(), 3);
        let budget = Budget::of(&parameters(Params { blockcount: Some(7), ..Params::default() }));
        assert_eq!((0..9).filter(|_| budget.claim(100)).count(), 7);
        let budget = Budget::of(&parameters(Params { num: Some(250), omit: Some(1), ..Params::default() }));
        assert!((0..9).all(|_| budget.claim(100)), "what is left out does not count");
    }
}
