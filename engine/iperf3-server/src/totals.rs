//! What a test came to, for the log. What a client reports may be any number: nothing is computed that could overflow.

#![deny(clippy::arithmetic_side_effects)]

use iperf3::{Protocol, Results, StreamResults};
use serde_json::{Value, json};

use crate::{
    record::{milliseconds, rate_bps, retransmits, role},
    running::{Mark, Running},
    stream::Stream,
    tally::Count,
};

/// The last line of the log; `reported`: what the client saw.
#[must_use]
pub fn of(running: &Running<'_>, reported: Option<&Results>) -> Value {
    let seconds = running.seconds();
    let (mut sent, mut received) = (0_u64, 0_u64);
    let mut streams = Vec::new();
    for (stream, count, mark) in running.counted() {
        let bytes = count.bytes.saturating_sub(mark.count.bytes);
        let sum = if stream.sends { &mut sent } else { &mut received };
        *sum = sum.saturating_add(bytes);
        let theirs = reported.and_then(|reported| reported.streams.iter().find(|other| other.id == stream.id));
        let mut row = json!({
            "id": stream.id, "role": role(stream.sends), "bytes": bytes, "rate_bps": rate_bps(bytes, seconds),
            "client_bytes": theirs.map(|theirs| theirs.bytes),
        });
        let more = match running.parameters().protocol {
            Protocol::Tcp => bytes_of(stream, mark, theirs),
            Protocol::Udp => datagrams_of(stream.sends, count, mark.count, theirs),
        };
        if let (Value::Object(row), Value::Object(more)) = (&mut row, more) {
            row.extend(more);
        }
        streams.push(row);
    }
    json!({ "seconds": seconds, "sent_bytes": sent, "received_bytes": received, "streams": streams })
}

fn bytes_of(stream: &Stream, mark: Mark, theirs: Option<&StreamResults>) -> Value {
    if stream.sends {
        json!({ "retransmits": retransmits(stream.tcp()).saturating_sub(mark.retransmits) })
    } else {
        json!({ "client_retransmits": theirs.map(|theirs| theirs.retransmits) })
    }
}

fn datagrams_of(sends: bool, count: Count, before: Count, theirs: Option<&StreamResults>) -> Value {
    let packets = count.packets.saturating_sub(before.packets);
    if sends {
        let lost = |theirs: &StreamResults| theirs.errors.saturating_sub(theirs.omitted_errors.unwrap_or(0));
        return json!({ "packets": packets, "client_lost": theirs.map(lost) });
    }
    json!({
        "packets": packets,
        "lost": count.missing.saturating_sub(before.missing),
        "reordered": count.reordered.saturating_sub(before.reordered),
        "duplicates": count.duplicates.saturating_sub(before.duplicates),
        "jitter_ms": milliseconds(count.jitter_ns),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn losses_that_a_client_makes_up_do_not_overflow() {
        let theirs = StreamResults { errors: i64::MIN, omitted_errors: Some(1), ..StreamResults::default() };
        let row = datagrams_of(true, Count::default(), Count::default(), Some(&theirs));
        assert_eq!(row["client_lost"], i64::MIN);
        let theirs = StreamResults { errors: i64::MAX, omitted_errors: Some(-1), ..StreamResults::default() };
        let row = datagrams_of(true, Count::default(), Count::default(), Some(&theirs));
        assert_eq!(row["client_lost"], i64::MAX);
    }

    proptest! {
        #[test]
        fn whatever_a_client_tells_is_a_row(
            sends: bool, errors: i64, omitted_errors: Option<i64>, now: [u64; 5], before: [u64; 5],
        ) {
            let theirs = StreamResults { errors, omitted_errors, ..StreamResults::default() };
            let count = |[packets, missing, reordered, duplicates, jitter_ns]: [u64; 5]| Count {
                bytes: 0, packets, missing, reordered, duplicates, jitter_ns,
            };
            prop_assert!(datagrams_of(sends, count(now), count(before), Some(&theirs)).is_object());
        }
    }
}
