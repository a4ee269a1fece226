//! What was seen of a test's streams, interval by interval.

use std::net::TcpStream;

use serde_json::{Map, Value, json};
use sys::{FIELDS, TcpInfo, tcp_info};

use crate::{stream::Stream, tally::Count};

/// One interval of all streams.
pub struct Interval {
    /// After the test began.
    pub begin_s: f64,
    /// See `begin_s`.
    pub end_s: f64,
    /// Whether it lies in the beginning that is left out.
    pub omitted: bool,
    /// Stream by stream.
    pub streams: Vec<Slice>,
}

/// What is kept of an interval for the client.
pub struct ReportedInterval {
    /// See [`Interval`].
    pub begin_s: f64,
    /// See [`Interval`].
    pub end_s: f64,
    /// See [`Interval`].
    pub omitted: bool,
    /// Stream by stream.
    pub streams: Vec<ReportedRow>,
}

/// Of one stream.
pub struct ReportedRow {
    /// iperf3's number of the stream.
    pub id: i64,
    /// Whether data goes to the client.
    pub sends: bool,
    /// Carried in the interval.
    pub bytes: u64,
}

/// One interval of one stream.
pub struct Slice {
    /// iperf3's number of the stream.
    pub id: i64,
    /// Whether data goes to the client.
    pub sends: bool,
    /// What it had carried at the end.
    pub count: Count,
    /// Of that, in the interval.
    pub bytes: u64,
    /// The kernel's `TCP_INFO`, of a connection of bytes.
    pub tcp_info: Option<TcpInfo>,
}

impl Slice {
    /// What a stream has carried since it had carried `before`; the kernel's `TCP_INFO` only if somebody reads it.
    pub fn of(stream: &Stream, before: Count, with_tcp_info: bool) -> Self {
        let count = stream.tally.count();
        Self {
            id: stream.id,
            sends: stream.sends,
            count,
            bytes: count.bytes.saturating_sub(before.bytes),
            tcp_info: stream.tcp().filter(|_| with_tcp_info).and_then(|socket| tcp_info(socket).ok()),
        }
    }

    fn json(&self, seconds: f64) -> Value {
        let mut row = json!({
            "id": self.id,
            "role": role(self.sends),
            "bytes": self.bytes,
            "rate_bps": rate_bps(self.bytes, seconds),
        });
        if let (Some(row), Some(info)) = (row.as_object_mut(), &self.tcp_info) {
            row.insert("tcp_info".into(), named(info));
        } else if let Some(row) = row.as_object_mut() {
            row.insert("packets_so_far".into(), json!(self.count.packets));
            if !self.sends {
                row.insert("lost_so_far".into(), json!(self.count.missing));
                row.insert("reordered_so_far".into(), json!(self.count.reordered));
                row.insert("duplicates_so_far".into(), json!(self.count.duplicates));
                row.insert("jitter_ms".into(), json!(milliseconds(self.count.jitter_ns)));
            }
        }
        row
    }
}

impl Interval {
    /// What is reported of it to a client: bytes alone. It takes 24 B a stream.
    #[must_use]
    pub fn reported(&self) -> ReportedInterval {
        let row = |slice: &Slice| ReportedRow { id: slice.id, sends: slice.sends, bytes: slice.bytes };
        let streams = self.streams.iter().map(row).collect();
        ReportedInterval { begin_s: self.begin_s, end_s: self.end_s, omitted: self.omitted, streams }
    }

    /// As a line of the log.
    pub fn json(&self, test: u64) -> Value {
        let seconds = self.end_s - self.begin_s;
        let streams: Vec<Value> = self.streams.iter().map(|slice| slice.json(seconds)).collect();
        json!({
            "test": test, "begin_s": self.begin_s, "end_s": self.end_s, "omitted": self.omitted, "streams": streams,
        })
    }
}

impl ReportedInterval {
    /// Bytes of all streams that send, or of all that receive.
    pub fn bytes(&self, sends: bool) -> u64 {
        self.streams.iter().filter(|slice| slice.sends == sends).map(|slice| slice.bytes).sum()
    }
}

/// Segments that a connection has retransmitted so far.
pub fn retransmits(socket: Option<&TcpStream>) -> u64 {
    socket.and_then(|socket| tcp_info(socket).ok()).and_then(|info| info.get("total_retrans")).unwrap_or(0)
}

/// Bytes that a peer has acknowledged, and whether there are any that it has not.
pub fn acknowledged(socket: &TcpStream) -> Option<(u64, bool)> {
    let info = tcp_info(socket).ok()?;
    let pending = info.get("unacked").unwrap_or(0) > 0 || info.get("notsent_bytes").unwrap_or(0) > 0;
    Some((info.get("bytes_acked")?, pending))
}

/// What a stream does here.
pub fn role(sends: bool) -> &'static str {
    if sends { "sends" } else { "receives" }
}

/// In bit/s.
#[expect(clippy::cast_precision_loss, reason = "a rate")]
pub fn rate_bps(bytes: u64, seconds: f64) -> f64 {
    if seconds > 0.0 { bytes as f64 * 8.0 / seconds } else { 0.0 }
}

/// Of nanoseconds.
#[expect(clippy::cast_precision_loss, reason = "an estimate")]
pub fn milliseconds(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1e6
}

fn named(info: &TcpInfo) -> Value {
    let known = FIELDS.iter().filter_map(|field| Some((field.name.to_owned(), json!(field.value(info)?))));
    Value::Object(known.collect::<Map<_, _>>())
}
