//! A test of streams of datagrams with an iperf3 server.

use std::{
    io,
    net::{SocketAddr, UdpSocket},
    num::NonZero,
    thread::{self, Scope},
    time::{Duration, Instant},
};

use iperf3::{Cookie, Counter, DatagramHeader, OPENING, replies_to_opening};
use rustix::{
    io::Errno,
    net::{RecvFlags, recv},
};
use sys::{RECEIVE_BATCH_MAX, ReceiveBatch, Received};
use wire::{FlowEnd, FlowReport, Granted, Iperf3, Role, Strangers, UdpCounts, UdpSettings};

use super::{
    conversation::{Conversation, Server},
    halt::Halt,
    kind::{Kind, Reach},
    outcome::Seen,
    run::Times,
    side::{Sampling, Side},
};
use crate::{
    Task, TrialError,
    defaults::{
        DUPLICATES_AWAITED, GRO_BUFFER_BYTES, GRO_BUFFERS, IPERF3_OPENING_TIMEOUT, IPERF3_OPENINGS, IPERF3_SETTLE,
        REFUSED_PAUSE, STOP_CHECK,
    },
    flow::cpu_since,
    samples::{Delivery, Log},
    threads::spawn,
    time::{from_nanoseconds, microseconds_to_ns, nanoseconds},
    udp::{
        arrivals::Arrivals,
        check, histograms,
        pace::Pace,
        rows::{HistogramRow, Quantity},
        sampler::Sampler,
        sequence::{Arrival, Sequence},
        socket,
        stream::{Opened, Outcome, Stream, UdpFlow, UdpFlows},
    },
};

/// Numbers do not run out.
const COUNTER: Counter = Counter::Wide;
const AWAITED: &str = "its reply to the opening of a stream";

/// A test of streams of datagrams.
pub struct Udp;

impl Kind for Udp {
    type Settings = UdpSettings;
    type Sampler = Sampler;
    type Buffers = ();

    fn check(task: &Task<'_, UdpSettings>) -> Result<(), TrialError> {
        check::check(task)
    }

    fn buffers(_: &Task<'_, UdpSettings>) -> Result<(), TrialError> {
        Ok(())
    }

    fn reach(settings: &UdpSettings) -> Reach {
        Reach {
            family: settings.family,
            connect_timeout: Duration::from_micros(settings.connect_timeout_us),
            silence: Duration::from_micros(settings.silence_timeout_us),
            sample_interval: Duration::from_micros(settings.sample_interval_us),
        }
    }

    fn times(settings: &UdpSettings, server: &Iperf3) -> Times {
        Times {
            duration: Duration::from_micros(settings.duration_us),
            pad: Duration::from_micros(settings.pad_us),
            omit: Duration::from_secs(server.omit_s.into()),
            first_bytes: Duration::from_micros(settings.silence_timeout_us),
            drain: Duration::from_micros(settings.drain_us) + STOP_CHECK,
            settle: IPERF3_SETTLE,
            linger: DUPLICATES_AWAITED.min(Duration::from_micros(settings.drain_us)),
        }
    }

    fn open(
        task: &Task<'_, UdpSettings>,
        server: &Server,
        _: &Cookie,
        conversation: &mut Conversation,
        halt: &Halt<'_>,
    ) -> Result<(Vec<Stream>, Granted), TrialError> {
        let mut granted = Granted::default();
        let mut streams = Vec::new();
        for flow in 0..task.settings.flows {
            let (socket, of_this) = make(task, server, flow)?;
            granted = of_this;
            open_stream(&socket, conversation, halt)?;
            let opened = Opened { token: task.token, answer: task.answer, listening: false };
            streams.push(Stream::new(socket, flow, opened));
        }
        Ok((streams, granted))
    }

    fn sampler(task: &Task<'_, UdpSettings>, flows: &UdpFlows, interval: Duration) -> Sampler {
        Sampler::new(task.role, flows.all.len(), task.settings.length_bytes, interval)
    }

    fn spawn_all<'scope, 'env>(
        scope: &'scope Scope<'scope, 'env>,
        flows: &'env UdpFlows,
        task: &'env Task<'env, UdpSettings>,
        (): &'env mut (),
    ) -> Result<(), TrialError> {
        let settings = task.settings;
        flows.all.iter().try_for_each(|flow| match task.role {
            Role::Source => spawn(scope, flow, flows, &settings.cpus, move || send(flow, flows, settings)),
            Role::Sink => spawn(scope, flow, flows, &settings.cpus, move || receive(flow, flows, settings)),
        })
    }

    fn seen(side: &Side<'_, Sampler>, settings: &UdpSettings) -> Vec<Seen> {
        let flows = side.flows.all.iter().zip(side.bytes_behind_omitted());
        flows
            .map(|(flow, bytes)| {
                let tally = *flow.connection.tally();
                let lost = if side.role == Role::Sink { tally.missing } else { 0 };
                Seen {
                    bytes,
                    retransmits: None,
                    datagrams: bytes / u64::from(settings.length_bytes.max(1)) + lost,
                    lost,
                    jitter_ns: tally.jitter_ns.unwrap_or(0),
                }
            })
            .collect()
    }

    fn deliver(
        sampler: Sampler,
        mut flows: UdpFlows,
        tables: &mut Delivery<'_>,
    ) -> Result<Vec<FlowReport>, TrialError> {
        let mut histograms = Log::new();
        let mut reports = Vec::new();
        for flow in &mut flows.all {
            let outcome = flow.connection.outcome();
            outcome.histograms.iter().for_each(|row| histograms.push(row));
            reports.push(FlowReport { udp: Some(outcome.counts), ..flow.report() });
        }
        drop(flows);
        tables.deliver(sampler.samples).map_err(|error| TrialError::Samples(error.to_string()))?;
        tables.deliver(sampler.datagrams).map_err(|error| TrialError::Samples(error.to_string()))?;
        // A trial is as good as its samples: rows of these that cannot be read back are only counted as lost.
        let _ = tables.deliver(histograms);
        Ok(reports)
    }

    const STREAMS_BREAK_ALONE: bool = true;
    const DATAGRAMS: bool = true;
}

fn make(task: &Task<'_, UdpSettings>, server: &Server, flow: u32) -> Result<(UdpSocket, Granted), TrialError> {
    let failed = |source| TrialError::Connect { flow, address: server.remote.to_string(), source };
    let (socket, granted) = socket::make(server.remote, task)?;
    if let Some(local) = server.bind {
        let failed = |source| TrialError::Socket { what: format!("cannot send from {local}"), source };
        socket.bind(&SocketAddr::new(local, 0).into()).map_err(failed)?;
    }
    socket.connect(&server.remote.into()).map_err(failed)?;
    let socket = UdpSocket::from(socket);
    socket::set_standing(&socket).map_err(failed)?;
    Ok((socket, granted))
}

/// Opens a stream. A server hears an opening once: what comes again is a datagram of the stream to it, so that the reply
/// is waited for as long as it may take. Those of a server that sends may come before it.
fn open_stream(socket: &UdpSocket, conversation: &mut Conversation, halt: &Halt<'_>) -> Result<(), TrialError> {
    let timeout = IPERF3_OPENING_TIMEOUT.max(conversation.round_trip() * 4);
    for _ in 0..IPERF3_OPENINGS {
        // A port where nobody listens yet says so with the next call.
        let _ = socket.send(&OPENING);
        let until = Instant::now() + timeout;
        while Instant::now() < until {
            match first_datagram(socket) {
                Ok(true) => return Ok(()),
                Ok(false) => {}
                Err(error) if is_pause(&error) => {}
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                    halt.sleep(STOP_CHECK)?;
                    let _ = socket.send(&OPENING);
                }
                Err(source) => return Err(TrialError::Socket { what: "cannot open a stream".into(), source }),
            }
            halt.check()?;
            if conversation.begun()? {
                return Ok(());
            }
        }
    }
    Err(conversation.silent(AWAITED, timeout * IPERF3_OPENINGS))
}

/// Whether a stream stands by what has come: the reply, or its first datagram, which stays where it is.
fn first_datagram(socket: &UdpSocket) -> io::Result<bool> {
    let mut bytes = [0; 32];
    let (_, length) = recv(socket, &mut bytes, RecvFlags::PEEK)?;
    if length >= COUNTER.header_bytes() {
        return Ok(true);
    }
    recv(socket, &mut bytes, RecvFlags::DONTWAIT)?;
    Ok(replies_to_opening(&bytes[..length]))
}

fn is_pause(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

/// The kernel has no room: nothing is lost, and the same datagram may be sent later.
fn is_refusal(error: &io::Error) -> bool {
    let code = error.raw_os_error();
    code == Some(Errno::NOBUFS.raw_os_error()) || code == Some(Errno::NOMEM.raw_os_error())
}

/// Sends one stream at its pace, or as fast as the kernel takes it, until told to stop.
fn send(flow: &UdpFlow, flows: &UdpFlows, settings: &UdpSettings) {
    let (cpu, began) = (sys::thread_cpu().ok(), Instant::now());
    // The kernel may put a sleep off by 50 us otherwise.
    let _ = rustix::thread::set_current_timer_slack(NonZero::new(1));
    let mut sender = Sender {
        flow,
        flows,
        datagram: vec![0; settings.length_bytes as usize],
        pace: Pace::new(settings.length_bytes, settings.rate_bps, settings.spacing_ns, 1),
        next: 1,
        refused: 0,
    };
    let broken = sender.send_until_stopped().err().map(|error| error.to_string());
    let cpu = cpu_since(cpu, began);
    flow.connection.leave(Outcome { counts: sender.counts(), ..Outcome::default() });
    let end = if broken.is_some() { FlowEnd::Broken } else { flows.aborted().unwrap_or(FlowEnd::Drained) };
    flows.end(flow, end, broken, cpu);
}

struct Sender<'a> {
    flow: &'a UdpFlow,
    flows: &'a UdpFlows,
    datagram: Vec<u8>,
    pace: Option<Pace>,
    /// Number of the next datagram; iperf3 counts from 1.
    next: u64,
    refused: u64,
}

impl Sender<'_> {
    fn send_until_stopped(&mut self) -> io::Result<()> {
        if let Some(pace) = &mut self.pace {
            pace.begin(now_ns(self.flows), 0.0);
        }
        while !self.flows.sending_stopped() {
            if let Some(pace) = &mut self.pace {
                let now_ns = now_ns(self.flows);
                if pace.due(now_ns, 1) == 0 {
                    thread::sleep(Duration::from_nanos(pace.due_ns() - now_ns).min(STOP_CHECK));
                    continue;
                }
            }
            self.send_one()?;
        }
        Ok(())
    }

    fn send_one(&mut self) -> io::Result<()> {
        let sent_us = u64::try_from(self.flows.origin().elapsed().as_micros()).unwrap_or(0);
        DatagramHeader { sent_us, sequence: self.next }.write(COUNTER, &mut self.datagram);
        match self.flow.connection.socket.send(&self.datagram) {
            Ok(count) => {
                self.next += 1;
                if let Some(pace) = &mut self.pace {
                    pace.sent(1);
                }
                self.flow.passed(count, self.flows.origin());
            }
            Err(error) if is_refusal(&error) => {
                self.refused += 1;
                thread::sleep(REFUSED_PAUSE);
            }
            Err(error) if is_pause(&error) => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }

    fn counts(&self) -> UdpCounts {
        UdpCounts {
            datagrams: self.next - 1,
            refused: self.refused,
            behind_max_ns: self.pace.as_ref().map(|pace| pace.behind_max_ns),
            ..UdpCounts::default()
        }
    }
}

fn now_ns(flows: &UdpFlows) -> u64 {
    u64::try_from(flows.now_ns()).unwrap_or(0)
}

/// Receives one stream until the coordinator says that it is over, or it is silent for too long.
fn receive(flow: &UdpFlow, flows: &UdpFlows, settings: &UdpSettings) {
    let mut batch = if settings.gro {
        ReceiveBatch::new(GRO_BUFFERS, GRO_BUFFER_BYTES)
    } else {
        // One byte more shows which datagrams are too long.
        ReceiveBatch::new(RECEIVE_BATCH_MAX, settings.length_bytes as usize + 1)
    };
    let mut receiver = Receiver::new(flow, settings);
    let mut running = None;
    let broken = loop {
        match batch.receive(&flow.connection.socket) {
            Ok(buffers) => {
                receiver.take(buffers);
                receiver.publish(flows);
                running = running.or_else(|| Some((sys::thread_cpu().ok(), Instant::now())));
            }
            Err(error) if is_pause(&error) => {}
            Err(error) => break Some(error.to_string()),
        }
        if flows.sending_stopped() {
            break None;
        }
        if let Some(silence) = receiver.silent_for(flows.now_ns()) {
            break Some(format!("silent for {:.1} s", silence.as_secs_f64()));
        }
    };
    let cpu = running.map(|(cpu, began)| cpu_since(cpu, began)).unwrap_or_default();
    // What a sink waits for once the source has stopped is no time in which it could have received.
    let at_ns = receiver.last_ns.filter(|_| broken.is_none()).unwrap_or_else(|| flows.now_ns());
    receiver.leave();
    let end = if broken.is_some() { FlowEnd::Broken } else { flows.aborted().unwrap_or(FlowEnd::Drained) };
    flows.end_at(flow, at_ns, end, broken, cpu);
}

/// What a sink counts of one stream.
struct Receiver<'a> {
    flow: &'a UdpFlow,
    length: usize,
    silence_ns: i64,
    sequence: Sequence,
    arrivals: Arrivals,
    strangers: Strangers,
    fresh: u64,
    last_ns: Option<i64>,
}

impl<'a> Receiver<'a> {
    fn new(flow: &'a UdpFlow, settings: &UdpSettings) -> Self {
        Self {
            flow,
            length: settings.length_bytes as usize,
            silence_ns: microseconds_to_ns(settings.silence_timeout_us),
            sequence: Sequence::new(),
            arrivals: Arrivals::new(),
            strangers: Strangers::default(),
            fresh: 0,
            last_ns: None,
        }
    }

    fn take<'b>(&mut self, buffers: impl Iterator<Item = Received<'b>>) {
        for buffer in buffers {
            let size = buffer.segment_bytes.unwrap_or(buffer.bytes.len()).max(1);
            let mut arrived_ns = buffer.arrived_unix_ns;
            for datagram in buffer.bytes.chunks(size) {
                self.take_one(datagram, &mut arrived_ns);
            }
        }
    }

    #[inline]
    fn take_one(&mut self, datagram: &[u8], arrived_ns: &mut Option<i64>) {
        let header = DatagramHeader::read(COUNTER, datagram).filter(|_| datagram.len() == self.length);
        let Some((header, number)) = header.and_then(|header| Some((header, header.sequence.checked_sub(1)?))) else {
            // Late replies to openings come here, too.
            if !replies_to_opening(datagram) {
                self.strangers.not_an_engine = self.strangers.not_an_engine.saturating_add(1);
            }
            return;
        };
        match self.sequence.take(number) {
            Arrival::New => self.fresh += 1,
            Arrival::Duplicate | Arrival::TooOld => {}
            Arrival::Implausible => {
                self.strangers.not_an_engine = self.strangers.not_an_engine.saturating_add(1);
                return;
            }
        }
        if let Some(arrived_ns) = arrived_ns.take() {
            let sent_ns = microseconds_to_ns(header.sent_us);
            self.arrivals.observe(arrived_ns, sent_ns);
        }
    }

    /// Tells the coordinator what has come. Delays are not told: nobody knows what the server's clock counts from.
    fn publish(&mut self, flows: &UdpFlows) {
        if self.fresh > 0 {
            self.last_ns = Some(flows.now_ns());
        }
        let mut tally = self.flow.connection.tally();
        tally.reordered = self.sequence.reordered;
        tally.duplicates = self.sequence.duplicates;
        tally.missing = self.sequence.missing();
        tally.jitter_ns = self.arrivals.jitter_ns();
        drop(tally);
        self.arrivals.interval = None;
        let bytes = usize::try_from(self.fresh).unwrap_or(usize::MAX).saturating_mul(self.length);
        self.fresh = 0;
        if bytes > 0 {
            self.flow.passed(bytes, flows.origin());
        }
    }

    fn silent_for(&self, now_ns: i64) -> Option<Duration> {
        let silent_ns = now_ns - self.last_ns?;
        (silent_ns > self.silence_ns.max(nanoseconds(STOP_CHECK))).then(|| from_nanoseconds(silent_ns))
    }

    fn leave(mut self) {
        self.sequence.finish(None);
        let flow = self.flow.index;
        let sequence = &self.sequence;
        let rows: Vec<HistogramRow> = histograms::rows(flow, Quantity::Spacing, &self.arrivals.spacing, 0)
            .chain(histograms::rows(flow, Quantity::LossBurst, &sequence.loss_bursts, 0))
            .chain(histograms::rows(flow, Quantity::ReorderingExtent, &sequence.extents, 0))
            .collect();
        let counts = UdpCounts {
            datagrams: sequence.unique,
            reordered: sequence.reordered,
            reordering_extent_max: sequence.extent_max,
            duplicates: sequence.duplicates,
            late: sequence.late,
            loss_bursts: sequence.loss_bursts.len(),
            loss_burst_max: sequence.loss_burst_max,
            socket_dropped: sys::socket_drops(&self.flow.connection.socket).ok().map(u64::from),
            jitter_ns: self.arrivals.jitter_ns(),
            ..UdpCounts::default()
        };
        self.flow.connection.leave(Outcome { counts, histograms: rows, strangers: self.strangers });
    }
}

impl Sampling for Sampler {
    type Connection = Stream;

    fn due_in(&self, now_ns: i64) -> Duration {
        self.due_in(now_ns)
    }

    fn sample_if_due(&mut self, flows: &UdpFlows) {
        self.sample_if_due(flows);
    }

    fn sample(&mut self, flows: &UdpFlows) {
        self.sample(flows);
    }
}
