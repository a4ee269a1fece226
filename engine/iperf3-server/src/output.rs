//! The server's output, for a client that requests it.

use std::fmt::Write;

use iperf3::Params;
use serde_json::{Value, json};

use crate::{
    record::{ReportedInterval, rate_bps},
    running::Running,
};

/// In lines.
#[must_use]
pub fn text(running: &Running<'_>, params: &Params) -> String {
    let mut text = String::from("Flowsweep's iperf3 server\n");
    if let Some(title) = &params.title {
        line(&mut text, format_args!("{title}"));
    }
    line(&mut text, format_args!("[ ID][Role] Interval           Bytes            Bitrate"));
    for interval in &running.intervals {
        let omitted = if interval.omitted { "  (omitted)" } else { "" };
        for slice in &interval.streams {
            let at = (interval.begin_s, interval.end_s);
            row(&mut text, slice.id, slice.sends, at, slice.bytes, omitted);
        }
    }
    line(&mut text, format_args!("- - - - - - - - - - - - - - - - - - - - - - - - -"));
    for (stream, count, mark) in running.counted() {
        let bytes = count.bytes.saturating_sub(mark.count.bytes);
        row(&mut text, stream.id, stream.sends, (0.0, running.seconds()), bytes, "");
    }
    text
}

/// As JSON with iperf3's keys.
#[must_use]
pub fn json(running: &Running<'_>, params: &Params) -> Value {
    let intervals: Vec<Value> = running.intervals.iter().map(interval).collect();
    let seconds = running.seconds();
    let streams: Vec<Value> = running
        .counted()
        .map(|(stream, count, mark)| {
            let bytes = count.bytes.saturating_sub(mark.count.bytes);
            let total = total(bytes, (0.0, seconds), stream.sends);
            let side = if stream.sends { "sender" } else { "receiver" };
            json!({ "id": stream.id, side: total })
        })
        .collect();
    json!({
        "start": { "version": "flowsweep", "title": params.title, "extra_data": params.extra_data },
        "intervals": intervals,
        "end": { "streams": streams },
    })
}

fn interval(interval: &ReportedInterval) -> Value {
    let at = (interval.begin_s, interval.end_s);
    let streams: Vec<Value> = interval
        .streams
        .iter()
        .map(|slice| {
            let mut row = total(slice.bytes, at, slice.sends);
            if let Some(row) = row.as_object_mut() {
                row.insert("id".into(), slice.id.into());
                row.insert("omitted".into(), interval.omitted.into());
            }
            row
        })
        .collect();
    let sends = interval.streams.iter().all(|slice| slice.sends);
    json!({ "streams": streams, "sum": total(interval.bytes(sends), at, sends) })
}

fn total(bytes: u64, (begin_s, end_s): (f64, f64), sends: bool) -> Value {
    let seconds = end_s - begin_s;
    json!({
        "start": begin_s, "end": end_s, "seconds": seconds, "bytes": bytes,
        "bits_per_second": rate_bps(bytes, seconds), "sender": sends,
    })
}

fn row(text: &mut String, id: i64, sends: bool, (begin_s, end_s): (f64, f64), bytes: u64, note: &str) {
    let role = if sends { "TX" } else { "RX" };
    let megabits = rate_bps(bytes, end_s - begin_s) / 1e6;
    line(
        text,
        format_args!("[{id:3}][{role}-S] {begin_s:6.2}-{end_s:<6.2} sec {bytes:>14} {megabits:>10.2} Mbits/sec{note}"),
    );
}

fn line(text: &mut String, line: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{line}");
}
