//! The table `hops`: one row is one probe of one hop.

use std::net::IpAddr;

use crate::{
    defaults::PATH_ROWS_MAX_BYTES,
    samples::{Column, Record, Tabular, code, record},
};

/// The response to a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// A router said that the probe may not go further.
    TimeExceeded,
    /// The sink's engine answered.
    Destination,
    /// The sink's host said that no engine listens there any more.
    PortUnreachable,
    /// A router said that the probe is too large for its next link.
    TooBig,
    /// A router said that it does not forward there.
    Unreachable,
    /// A router said something else.
    Other,
}

const ANSWERS: [(Answer, &str); 6] = [
    (Answer::TimeExceeded, "time_exceeded"),
    (Answer::Destination, "destination"),
    (Answer::PortUnreachable, "port_unreachable"),
    (Answer::TooBig, "too_big"),
    (Answer::Unreachable, "unreachable"),
    (Answer::Other, "other"),
];

/// One probe of one hop, answered or lost for good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HopRow {
    /// Number of the probe.
    pub sequence: u32,
    /// How many hops it could go.
    pub ttl: u8,
    /// Size of its IP packet.
    pub size_bytes: u32,
    /// When it was sent, in nanoseconds since the source's origin.
    pub sent_ns: i64,
    /// The response; absent if there was none.
    pub seen: Option<Seen>,
    /// How many probes were sent in its place, itself included.
    pub tries: u32,
    /// From one probe of this hop to the next, at least, when this one was sent.
    pub spacing_ns: i64,
}

/// The response to a probe, when and from whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// What.
    pub answer: Answer,
    /// From whom; absent if this host's own kernel said it.
    pub from: Option<IpAddr>,
    /// From the sending of the probe to the arrival of the response.
    pub rtt_ns: i64,
}

record!(HopRow {
    sequence: u32,
    ttl: u8,
    size_bytes: u32,
    sent_ns: i64,
    seen: Option<Seen>,
    tries: u32,
    spacing_ns: i64,
});
record!(Seen { answer: Answer, from: Option<IpAddr>, rtt_ns: i64 });
code!(Answer { TimeExceeded, Destination, PortUnreachable, TooBig, Unreachable, Other });

impl Record for HopRow {
    const LOG_MAX_BYTES: u64 = PATH_ROWS_MAX_BYTES;
}

impl Tabular for HopRow {
    const TABLE: &'static str = "hops";
    const TITLE: &'static str = "Hops: one row is one probe of one hop of a path";

    #[rustfmt::skip]
    fn columns() -> Vec<Column<Self>> {
        vec![
            Column::role("Which end saw this: source."),
            Column::int64("sequence", "", "Number of the probe in its trial, in the order of sending.", |row: &Self| row.sequence.into()),
            Column::int32("ttl", "hops", "How far the probe could go: 1 is the first router.", |row: &Self| row.ttl.into()),
            Column::int64("size_bytes", "bytes", "Size of the probe's IP packet, its headers included.", |row: &Self| row.size_bytes.into()),
            Column::int64("sent_ns", "ns", "When it was sent, by the source's clock read just before the call, since the source's origin.", |row: &Self| row.sent_ns),
            Column::int64_if_any("rtt_ns", "ns", "From sent_ns until the source's kernel took the answer from the device. How long the sink's engine took to answer is not in it; how long a router did is. Absent: no response in time, neither to this probe nor to those that it replaces.", |row: &Self| row.seen.map(|seen| seen.rtt_ns)),
            Column::text_if_any("address", "Who answered. Absent if nobody did, or the source's own kernel.", |row: &Self| Some(row.seen?.from?.to_string().into())),
            Column::text_if_any("answer", "time_exceeded: a router; destination: the sink's engine; port_unreachable: the sink's host, where no engine listens any more; too_big: a router whose next link cannot carry it; unreachable: a router that does not forward it; other.", |row: &Self| Some(name(row.seen?.answer).into())),
            Column::int32("tries", "probes", "How many probes of this size were sent until this one: those before got no answer. Their loss is as likely a host that limits its answers as a packet lost.", |row: &Self| row.tries.cast_signed()),
            Column::int64("spacing_ns", "ns", "How long the source waited at least between two probes of this hop when it sent this one. Longer than the plan asks for where a hop was seen to limit its answers.", |row: &Self| row.spacing_ns),
        ]
    }
}

fn name(of: Answer) -> &'static str {
    ANSWERS.iter().find(|(answer, _)| *answer == of).map_or("", |(_, name)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::assert_kept;

    #[test]
    fn a_row_survives_its_record() {
        let seen = |answer, from| Some(Seen { answer, from, rtt_ns: 12_345 });
        for seen in [
            None,
            seen(Answer::TimeExceeded, Some("192.0.2.1".parse().unwrap())),
            seen(Answer::Destination, Some("2001:db8::1".parse().unwrap())),
            seen(Answer::TooBig, None),
        ] {
            let (sequence, ttl, size_bytes) = (u32::MAX, 64, 1440);
            let row = HopRow { sequence, ttl, size_bytes, sent_ns: -1, seen, tries: 3, spacing_ns: 1 << 40 };
            assert_kept(&[row]);
        }
    }
}
