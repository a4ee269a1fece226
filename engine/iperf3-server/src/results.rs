//! The results that are reported to the client at the end.

use iperf3::{Params, Protocol, Results, StreamResults};
use socket2::SockRef;

use crate::{
    output,
    record::retransmits,
    running::{Mark, Running},
    stream::Stream,
    tally::Count,
};

/// Whether retransmits are known, as iperf3 says it.
const RECEIVES: i64 = -1;
const UNKNOWN: i64 = 0;
const KNOWN: i64 = 1;

/// What was seen of a test whose threads have ended.
#[must_use]
pub fn of(running: &Running<'_>, params: &Params) -> Results {
    let parameters = running.parameters();
    let seconds = running.seconds();
    let lasted = running.lasted_seconds();
    let percent = |time: std::time::Duration| if lasted > 0.0 { 100.0 * time.as_secs_f64() / lasted } else { 0.0 };
    let (user, system) = running.cpu;
    let mut results = Results {
        cpu_util_total: percent(user + system),
        cpu_util_user: percent(user),
        cpu_util_system: percent(system),
        sender_has_retransmits: match (parameters.sending, parameters.protocol) {
            (0, _) => RECEIVES,
            (_, Protocol::Udp) => UNKNOWN,
            (_, Protocol::Tcp) => KNOWN,
        },
        congestion_used: running.streams.first().and_then(congestion_of),
        streams: running.counted().map(|(stream, count, mark)| results_of(stream, count, mark, seconds)).collect(),
        ..Results::default()
    };
    if params.get_server_output {
        if running.json_output() {
            results.server_output_json = Some(output::json(running, params));
        } else {
            results.server_output_text = Some(output::text(running, params));
        }
    }
    results
}

fn results_of(stream: &Stream, count: Count, mark: Mark, seconds: f64) -> StreamResults {
    let resent = || signed(retransmits(stream.tcp()).saturating_sub(mark.retransmits));
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    let jitter = count.jitter_ns as f64 / 1e9;
    StreamResults {
        id: stream.id,
        bytes: signed(count.bytes.saturating_sub(mark.count.bytes)),
        retransmits: if stream.sends && stream.tcp().is_some() { resent() } else { -1 },
        jitter,
        // What was missing when the omitted beginning ended may have been received since: the client takes the difference.
        errors: signed(count.missing.max(mark.count.missing)),
        omitted_errors: Some(signed(mark.count.missing)),
        packets: signed(count.packets),
        omitted_packets: Some(signed(mark.count.packets)),
        start_time: 0.0,
        end_time: seconds,
    }
}

fn congestion_of(stream: &Stream) -> Option<String> {
    let name = SockRef::from(stream.tcp()?).tcp_congestion().ok()?;
    Some(String::from_utf8_lossy(&name).trim_end_matches('\0').to_owned())
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
