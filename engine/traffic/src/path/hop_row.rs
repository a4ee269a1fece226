//! The table `hops`: one row is one probe of one hop.

use std::net::{IpAddr, Ipv6Addr};

use crate::{
    defaults::PATH_ROWS_MAX_BYTES,
    samples::{Column, Record, Tabular, take},
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

/// Stands in a record for an absent time.
const ABSENT: i64 = i64::MIN;

impl Record for HopRow {
    const BYTES: usize = 4 + 1 + 4 + 8 + 8 + 1 + 1 + 16 + 4 + 8;
    const LOG_MAX_BYTES: u64 = PATH_ROWS_MAX_BYTES;

    fn encode(&self, record: &mut Vec<u8>) {
        let answer = self.seen.and_then(|seen| ANSWERS.iter().position(|(answer, _)| *answer == seen.answer));
        let from = self.seen.and_then(|seen| seen.from);
        let (family, address) = match from {
            None => (0, Ipv6Addr::UNSPECIFIED),
            Some(IpAddr::V4(address)) => (4, address.to_ipv6_mapped()),
            Some(IpAddr::V6(address)) => (6, address),
        };
        record.extend(self.sequence.to_le_bytes());
        record.push(self.ttl);
        record.extend(self.size_bytes.to_le_bytes());
        record.extend(self.sent_ns.to_le_bytes());
        record.extend(self.seen.map_or(ABSENT, |seen| seen.rtt_ns).to_le_bytes());
        record.push(answer.and_then(|index| u8::try_from(index).ok()).unwrap_or(u8::MAX));
        record.push(family);
        record.extend(address.octets());
        record.extend(self.tries.to_le_bytes());
        record.extend(self.spacing_ns.to_le_bytes());
    }

    fn decode(mut record: &[u8]) -> Self {
        let rest = &mut record;
        let sequence = u32::from_le_bytes(take(rest));
        let [ttl] = take(rest);
        let size_bytes = u32::from_le_bytes(take(rest));
        let sent_ns = i64::from_le_bytes(take(rest));
        let rtt_ns = i64::from_le_bytes(take(rest));
        let [answer, family] = take(rest);
        let address = Ipv6Addr::from(take::<16>(rest));
        let from = match family {
            4 => address.to_ipv4_mapped().map(IpAddr::from),
            6 => Some(address.into()),
            _ => None,
        };
        let seen = ANSWERS.get(usize::from(answer)).map(|(answer, _)| Seen { answer: *answer, from, rtt_ns });
        let tries = u32::from_le_bytes(take(rest));
        Self { sequence, ttl, size_bytes, sent_ns, seen, tries, spacing_ns: i64::from_le_bytes(take(rest)) }
    }
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
            let mut record = Vec::new();
            row.encode(&mut record);
            assert_eq!(record.len(), HopRow::BYTES);
            assert_eq!(HopRow::decode(&record), row);
        }
    }
}
