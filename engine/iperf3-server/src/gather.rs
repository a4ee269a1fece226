//! A test's streams: each with what its client requested, in the order in which they were made.

use std::{
    net::{IpAddr, UdpSocket},
    sync::mpsc::RecvTimeoutError,
    time::{Duration, Instant},
};

use iperf3::{Cookie, ErrorCode, Params, State};

use crate::{
    control::Control,
    defaults::{OPENING_CHECK, STOP_CHECK},
    failure::Failure,
    openings,
    settings::{configured, limited_window},
    shared::{Arrived, Shared},
    stream::Socket,
};

/// Takes the connections of a test.
///
/// # Errors
/// [`Failure`] if they do not come, the client goes, or one cannot be set as it requested.
pub fn tcp_streams(
    cookie: Cookie,
    params: &Params,
    count: usize,
    control: &Control<'_>,
    shared: &Shared,
) -> Result<Vec<Socket>, Failure> {
    let call = shared.calls.call(cookie, count).ok_or(Failure::Refused(ErrorCode(106), 0))?;
    control.say(State::CreateStreams)?;
    let deadlines = shared.config.deadlines;
    let begin = Instant::now();
    let mut last = begin;
    let mut arrived: Vec<Arrived> = Vec::new();
    while arrived.len() < count {
        match call.arrivals.recv_timeout(STOP_CHECK) {
            Ok(stream) => {
                arrived.push(stream);
                last = Instant::now();
            }
            Err(RecvTimeoutError::Timeout) => still_wanted(control, shared, begin + deadlines.streams, last)?,
            Err(RecvTimeoutError::Disconnected) => return Err(Failure::Refused(ErrorCode::STREAM, 0)),
        }
    }
    arrived.sort_unstable_by_key(|stream| stream.order);
    let window_max = limited_window(shared.config.limits.rate_max_bps, count);
    arrived.into_iter().map(|arrived| configured(arrived.stream, params, window_max)).collect()
}

/// Has the streams of datagrams of a test opened.
///
/// # Errors
/// As [`tcp_streams`].
pub fn udp_streams(
    peer: IpAddr,
    params: &Params,
    count: usize,
    control: &Control<'_>,
    shared: &Shared,
) -> Result<Vec<Socket>, Failure> {
    let turn = Instant::now() + shared.config.deadlines.turn;
    let opening = loop {
        match shared.set_ups.begin(peer, params, count, STOP_CHECK) {
            Some(opening) => break opening,
            None => still_wanted(control, shared, turn, Instant::now())?,
        }
    };
    control.say(State::CreateStreams)?;
    let deadline = Instant::now() + shared.config.deadlines.streams;
    let mut last = Instant::now();
    let mut sockets: Vec<UdpSocket> = Vec::new();
    while sockets.len() < count {
        match opening.arrivals.recv_timeout(OPENING_CHECK) {
            Ok(made) => {
                sockets.push(made?);
                last = Instant::now();
            }
            Err(RecvTimeoutError::Timeout) => {
                openings::answer_again(sockets.iter());
                still_wanted(control, shared, deadline, last)?;
            }
            Err(RecvTimeoutError::Disconnected) => return Err(Failure::Refused(ErrorCode::STREAM, 0)),
        }
    }
    Ok(sockets.into_iter().map(Socket::Udp).collect())
}

/// Whether a test that waits for its streams until `deadline` is to wait on; `last`: when the last one was opened.
///
/// # Errors
/// [`Failure`] if not.
pub fn still_wanted(control: &Control<'_>, shared: &Shared, deadline: Instant, last: Instant) -> Result<(), Failure> {
    if shared.urgency.stops() {
        return Err(Failure::ServerStops);
    }
    let patience = shared.urgency.patience(shared.config.deadlines.turn.max(shared.config.deadlines.streams));
    if Instant::now() > deadline || last.elapsed() > patience {
        return Err(Failure::Refused(ErrorCode::STREAM, 0));
    }
    match control.next_state(Duration::ZERO)? {
        None => Ok(()),
        Some(State::ClientTerminate) => Err(Failure::ClientTerminated),
        Some(_) => Err(Failure::Refused(ErrorCode::MESSAGE, 0)),
    }
}
