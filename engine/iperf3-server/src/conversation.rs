//! One test from its parameters to its end, as a conversation with its client.

use std::{
    net::{IpAddr, TcpStream},
    sync::Arc,
};

use iperf3::{Cookie, ErrorCode, Params, Protocol, Results, State, stream_id};
use serde_json::{Value, json};
use serving::Origin;

use crate::{
    control::{Control, ControlError},
    defaults::{CLIENT_RESULTS_BYTES_MAX, ROWS_REPORTED_MAX},
    failure::Failure,
    gather,
    parameters::TestParameters,
    results,
    running::Running,
    settings,
    shared::Shared,
    stream::{Socket, Stream},
    test_state::TestState,
    totals,
};

/// A client whose test begins.
pub struct Client {
    /// Number of the test.
    pub number: u64,
    /// Its control connection.
    pub stream: TcpStream,
    /// Name of its test.
    pub cookie: Cookie,
    /// The parameters that it requests; checked.
    pub params: Params,
    /// Who it is.
    pub peer: IpAddr,
}

impl Client {
    /// From where it comes.
    #[must_use]
    pub fn origin(&self) -> Origin {
        self.peer.into()
    }
}

/// Leads a test from its streams to its results, and writes it down.
pub fn converse(client: Client, shared: &Shared) {
    let Client { number, stream, cookie, params, peer } = client;
    shared.log.write("test_begins", described(number, peer, &params));
    let Ok(control) = Control::new(stream, shared.config.deadlines, &shared.urgency) else { return };
    let mut seen = Value::Null;
    let ended = test(number, (cookie, peer), &params, &control, shared, &mut seen);
    let (status, error) = match &ended {
        Ok(()) => ("complete", None),
        Err(failure) => failure.words(),
    };
    // Before the client is waited for: when the server ends, the log may not.
    note_end(shared, number, status, error.as_deref(), seen);
    let sent = match ended {
        Ok(()) => return,
        Err(Failure::Refused(code, errno)) => control.say_error(code, errno),
        Err(Failure::ServerStops) => {
            control.say_end();
            Ok(())
        }
        Err(_) => Ok(()),
    };
    if sent.is_ok() {
        control.close();
    }
}

fn test(
    number: u64,
    (cookie, peer): (Cookie, IpAddr),
    params: &Params,
    control: &Control<'_>,
    shared: &Shared,
    seen: &mut Value,
) -> Result<(), Failure> {
    let parameters = TestParameters::of(params).map_err(|refusal| Failure::Refused(refusal.code, 0))?;
    settings::check_congestion(params)?;
    let count = (parameters.receiving + parameters.sending) as usize;
    let sockets = match parameters.protocol {
        Protocol::Tcp => gather::tcp_streams(cookie, params, count, control, shared)?,
        Protocol::Udp => gather::udp_streams(peer, params, count, control, shared)?,
    };
    let kept = if params.get_server_output { ROWS_REPORTED_MAX } else { 0 };
    let mut running = Running::new(number, begin(&parameters, sockets, shared)?, shared, kept);
    control.say(State::TestStart)?;
    control.say(State::TestRunning)?;
    if parameters.protocol == Protocol::Udp {
        control.bear_silence(shared.config.no_data_timeout).map_err(ControlError::from)?;
    }
    running.begin();
    let ended = running.watch(control);
    running.stop_sources();
    *seen = totals::of(&running, None);
    ended?;
    let reported = exchange(&mut running, params, control, shared)?;
    *seen = totals::of(&running, Some(&reported));
    control.say(State::DisplayResults)?;
    // A client that is content with its results and leaves without a word is no failure.
    let _ = control.last_state(shared.config.deadlines.done);
    Ok(())
}

fn begin(
    parameters: &TestParameters,
    sockets: Vec<Socket>,
    shared: &Shared,
) -> Result<(Vec<Stream>, Arc<TestState>), Failure> {
    let rate_max_bps = shared.config.limits.rate_max_bps;
    let test = Arc::new(TestState::new(parameters.clone(), Arc::clone(&shared.payload), rate_max_bps));
    let mut streams = Vec::new();
    for (index, socket) in (0..).zip(sockets) {
        match Stream::begin(stream_id(index), index >= parameters.receiving, socket, &test) {
            Ok(stream) => streams.push(stream),
            Err(error) => {
                // Those that have begun end with what watches over them.
                drop(Running::new(0, (streams, test), shared, 0));
                return Err(Failure::refused(ErrorCode::STREAM, &error));
            }
        }
    }
    Ok((streams, test))
}

/// Exchanges results with the client: what was seen here, and what was seen there.
fn exchange(
    running: &mut Running<'_>,
    params: &Params,
    control: &Control<'_>,
    shared: &Shared,
) -> Result<Results, Failure> {
    if !running.counts_to_the_last() {
        running.stop_sinks();
    }
    control.say(State::ExchangeResults)?;
    let reported: Results = match control.receive(CLIENT_RESULTS_BYTES_MAX, shared.config.deadlines.results) {
        Err(ControlError::Frame(_)) => return Err(Failure::Refused(ErrorCode::RESULTS, 0)),
        reported => reported?,
    };
    running.drain(&reported);
    running.stop_sinks();
    control.send(&results::of(running, params))?;
    Ok(reported)
}

fn described(number: u64, peer: IpAddr, params: &Params) -> Value {
    json!({
        "test": number,
        "client": peer.to_string(),
        "client_version": params.client_version,
        "title": params.title,
        "extra_data": params.extra_data,
        "protocol": if params.udp { "udp" } else { "tcp" },
        "direction": TestParameters::of(params).map_or("", |parameters| parameters.direction()),
        "streams": params.streams(),
        "duration_s": params.time,
        "omit_s": params.omit,
        "bytes_to_send": params.num,
        "blocks_to_send": params.blockcount,
        "length_bytes": params.len,
        "window_bytes": params.window,
        "mss_bytes": params.mss,
        "rate_bps": params.bandwidth,
        "congestion": params.congestion,
    })
}

fn note_end(shared: &Shared, number: u64, status: &str, error: Option<&str>, seen: Value) {
    let mut line = json!({ "test": number, "status": status, "error": error });
    if let (Some(line), Value::Object(seen)) = (line.as_object_mut(), seen) {
        line.extend(seen);
    }
    shared.log.write("test_ends", line);
}
