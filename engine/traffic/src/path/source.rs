//! The source of a measurement of a path: trains, streams, and then the hops for as long as there is time.

use std::time::{Duration, Instant};

use super::{
    datagram::{Request, Response},
    hop_row::HopRow,
    hops,
    request::request_once,
    run::Run,
    sending,
    sink::Secrets,
};
use crate::{
    TrialError,
    defaults::{PATH_HOP_LIMIT, TEARDOWN},
    samples::Log,
};

/// Measures what the settings request, as far as there is time. The rows so far are there in any case.
pub fn measure(run: &mut Run<'_>, secrets: Secrets, log: &mut Log<HopRow>) -> Result<(), TrialError> {
    // Where it may be had, no other program comes between the packets of a stream; the thread mostly sleeps.
    let _ = sys::take_realtime_priority();
    let whole = Duration::from_micros(run.settings.deadline_us);
    let begin = Instant::now();
    let with_hops = run.settings.ttl_max > 0;
    // Trains take as long as they take, hops can do with what is left.
    let trains_until = begin + if with_hops { whole / 4 } else { whole / 2 };
    let streams_until = begin + if with_hops { whole / 2 } else { whole };
    let measured = sending::send_trains(run, secrets, trains_until)
        .and_then(|sent| sending::send_streams(run, secrets, sent, streams_until))
        .and_then(|()| hops::probe_hops(run, secrets, begin + whole, log));
    // Also where the trial was stopped: the sink need not wait any longer.
    send_teardown(run, secrets);
    measured
}

/// Repeats the teardown until the sink has acknowledged it; sends it once if the trial was stopped.
fn send_teardown(run: &mut Run<'_>, secrets: Secrets) {
    // The last probe of a hop may have had less to go.
    let _ = run.line.set_hop_limit(PATH_HOP_LIMIT);
    let deadline = Instant::now() + TEARDOWN;
    while Instant::now() < deadline {
        match request_once(run, secrets, Request::Teardown, |response| response == Response::Teardown) {
            Ok(None) => {}
            Ok(Some(_)) | Err(_) => return,
        }
    }
}
