//! What one end of a trial asks of its host, worked out from its request: flows, rate, time and bytes, at most.

use std::time::Duration;

use wire::{
    Echo, MptcpSettings, PathSettings, Prepare, QuicSettings, RendezvousRole, Role, RttSettings, TcpSettings, Test,
    UdpSettings,
    defaults::{HOP_TRIES, START_TIMEOUT, STREAM_TRIES, TRAIN_PACKETS_MAX},
};

use crate::{
    defaults::{OVERHEAD_MAX, RESERVED_BEYOND, STREAM_ROWS_OF_SAMPLE, STREAMS_UNCOUNTED_FROM},
    refusal::Refusal,
    test_name::TestName,
};

/// Twice the mean number of a Poisson process is beyond what it ever draws of many; so few may be anything.
const FEW_PROBES: u64 = 100;

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Demand {
    /// What is measured.
    pub test: TestName,
    /// Which end this host is.
    pub role: Role,
    /// Whether the other end comes here.
    pub listens: bool,
    /// 4 or 6: the IP version that is asked for.
    pub family: Option<u8>,
    /// Flows.
    pub flows: u32,
    /// Rate of all flows.
    pub rate: Rate,
    /// Samples of all flows that this end keeps, a second; none where what it keeps goes with what it sends.
    pub samples_per_s: u64,
    /// How long it measures.
    pub duration_us: u64,
    /// Everything else that takes its time: connecting, pad, drain.
    pub beyond_us: u64,
    /// Of these, while the source sends.
    pub pad_us: u64,
    /// Of these, while a source's kernel may still send.
    pub drain_us: u64,
    /// The kernel paces it by itself, below the rate of its application: it takes what it sends later.
    pub kernel_paces: bool,
    /// Bytes it carries, at most, where they do not follow from rate and time.
    pub bytes: Option<u64>,
    /// Bytes that may be under way ahead of the rate: the first block of each flow.
    pub ahead_bytes: u64,
    /// Largest probe with its answer, where the times between probes are random and the rate is their mean.
    pub probe_bytes: Option<u64>,
    /// Each byte that an end counts comes back as well.
    pub comes_back: bool,
}

/// How fast all flows of an end are together, in bit/s of what they carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rate {
    /// As fast as asked for, at most.
    Stated(u64),
    /// As fast as they can; their source can be held to a rate.
    Open,
    /// As fast as they can, and nothing can hold them.
    Bursts,
}

impl Demand {
    /// What a request asks for.
    ///
    /// # Errors
    /// [`Refusal::Unbounded`]: this end cannot bound it.
    pub fn of(prepare: &Prepare) -> Result<Self, Refusal> {
        if prepare.iperf3.is_some() {
            return Err(unbounded("tests of iperf3's servers", "it measures with other engines only"));
        }
        let stated = stated_rate_bps(&prepare.test);
        let demand = match &prepare.test {
            Test::Tcp(settings) => tcp(settings, stated),
            Test::Udp(settings) => udp(settings, stated),
            Test::Quic(settings) if settings.perf => {
                return Err(unbounded("tests of QUIC's perf servers", "it measures with other engines only"));
            }
            Test::Quic(settings) => quic(settings, stated),
            Test::Rtt(settings) => rtt(settings),
            Test::Path(settings) => path(settings),
            Test::Mptcp(_) => {
                let why = "the kernel makes and takes subflows of addresses that the engine does not see";
                return Err(unbounded("mptcp", why));
            }
            Test::File(_) => return Err(unbounded("file", "it would read and write files of this host")),
            Test::Added(settings) => {
                let name: String = settings.name.chars().take(40).collect();
                return Err(unbounded(&format!("{name:?}"), "it does not know what that would do"));
            }
        };
        let listens = matches!(prepare.rendezvous, RendezvousRole::Listen { .. });
        let proven = matches!(demand.test, TestName::Tcp | TestName::Quic);
        if listens && prepare.role == Role::Source && !proven {
            let why =
                "whoever opens with a datagram may say any address: have this end connect to the sink, or receive";
            return Err(unbounded(&format!("{} as a source that listens", demand.test.text()), why));
        }
        let most = micros(OVERHEAD_MAX);
        if demand.beyond_us > most {
            let what = format!("trials that take {} s beyond their duration", demand.beyond_us / 1_000_000);
            return Err(unbounded(&what, "connecting, pad and drain may take 120 s together"));
        }
        Ok(Self { role: prepare.role, listens, ..demand })
    }

    /// Bytes that it carries at most, at a rate of all flows.
    #[must_use]
    pub fn bytes_at(&self, rate_bps: u64, paced: bool) -> u64 {
        let drain_us = if paced || self.kernel_paces { self.drain_us } else { 0 };
        let time_us = self.duration_us.saturating_add(self.pad_us).saturating_add(drain_us);
        let time_us = time_us.saturating_add(micros(RESERVED_BEYOND));
        let bytes = (u128::from(rate_bps) * u128::from(time_us)).div_ceil(8_000_000);
        u64::try_from(bytes).unwrap_or(u64::MAX).saturating_add(self.ahead_bytes)
    }

    /// What goes and what comes, where an end has counted so many bytes.
    #[must_use]
    pub fn both_ways(&self, counted: u64) -> u64 {
        if self.comes_back { counted.saturating_mul(2) } else { counted }
    }

    /// Whether so many bytes after such a time are more than come at a rate; never where no rate is kept for so long.
    #[must_use]
    pub fn is_faster(&self, bytes: u64, rate_bps: u64, elapsed: Duration) -> bool {
        let (bits, in_time) = (u128::from(bytes) * 8_000_000, (elapsed + RESERVED_BEYOND).as_micros());
        let at_rate = u128::from(rate_bps).saturating_mul(in_time);
        match (self.bytes, self.probe_bytes) {
            (None, _) => bits > at_rate.saturating_add(u128::from(self.ahead_bytes) * 8_000_000),
            (Some(_), Some(probe)) => {
                let few = u128::from(FEW_PROBES.saturating_mul(probe)) * 8_000_000;
                bits > at_rate.saturating_mul(2).saturating_add(few)
            }
            (Some(_), None) => false,
        }
    }

    /// How long it has this host, at most, once it may begin.
    #[must_use]
    pub fn longest_us(&self) -> u64 {
        self.duration_us.saturating_add(self.beyond_us).saturating_add(micros(START_TIMEOUT))
    }

    /// How long it goes on, at most, once it runs.
    #[must_use]
    pub fn longest_run_us(&self) -> u64 {
        self.duration_us.saturating_add(self.pad_us).saturating_add(self.drain_us)
    }

    /// A demand of which only the rest is to be said.
    fn new(test: TestName, family: Option<u8>, flows: u32, duration_us: u64) -> Self {
        Self {
            test,
            role: Role::Source,
            listens: false,
            family,
            flows,
            rate: Rate::Open,
            samples_per_s: 0,
            duration_us,
            beyond_us: 0,
            pad_us: 0,
            drain_us: 0,
            kernel_paces: false,
            bytes: None,
            ahead_bytes: 0,
            probe_bytes: None,
            comes_back: false,
        }
    }
}

/// The rate that a request states for each flow, in bit/s: the least of those that hold a source of bytes, the highest of
/// those at which datagrams go.
#[must_use]
pub fn stated_rate_bps(test: &Test) -> Option<u64> {
    match test {
        Test::Tcp(settings) | Test::Mptcp(MptcpSettings { tcp: settings, .. }) => {
            [settings.rate_bps, settings.pacing_rate_bps].into_iter().flatten().min()
        }
        Test::Udp(settings) => {
            let nanobits = u128::from(settings.length_bytes) * 8_000_000_000;
            let spaced = settings.spacing_ns.map(|spacing| nanobits.div_ceil(u128::from(spacing.max(1))));
            let spaced = spaced.map(|rate| u64::try_from(rate).unwrap_or(u64::MAX));
            settings.rate_bps.into_iter().chain(spaced).max()
        }
        Test::Quic(settings) => settings.rate_bps,
        Test::File(_) | Test::Rtt(_) | Test::Path(_) | Test::Added(_) => None,
    }
}

fn tcp(settings: &TcpSettings, stated: Option<u64>) -> Demand {
    let demand = bulk(TestName::Tcp, settings.family, settings.flows, [settings.duration_us, settings.pad_us])
        .with_rate(stated)
        .with_samples(1, settings.sample_interval_us)
        .with_beyond(settings.connect_timeout_us, settings.drain_timeout_us);
    // A rate holds an application back once it has written its first block.
    let ahead = settings.rate_bps.map(|_| u64::from(settings.flows).saturating_mul(settings.length_bytes.into()));
    let kernel_paces =
        settings.pacing_rate_bps.is_some_and(|pacing| settings.rate_bps.is_none_or(|rate| pacing < rate));
    Demand { ahead_bytes: ahead.unwrap_or(0), kernel_paces, ..demand }
}

fn udp(settings: &UdpSettings, stated: Option<u64>) -> Demand {
    let demand = bulk(TestName::Udp, settings.family, settings.flows, [settings.duration_us, settings.pad_us]);
    let demand = if stated.is_none() { Demand { rate: Rate::Bursts, ..demand } } else { demand.with_rate(stated) };
    demand.with_samples(1, settings.sample_interval_us).with_beyond(settings.connect_timeout_us, settings.drain_us)
}

fn quic(settings: &QuicSettings, stated: Option<u64>) -> Demand {
    let is_frequent = settings.sample_interval_us < micros(STREAMS_UNCOUNTED_FROM);
    let of_streams = if is_frequent { settings.streams / STREAM_ROWS_OF_SAMPLE } else { 0 };
    let demand = bulk(TestName::Quic, settings.family, settings.flows, [settings.duration_us, settings.pad_us])
        .with_rate(stated)
        .with_samples(1 + of_streams, settings.sample_interval_us)
        .with_beyond(settings.connect_timeout_us, settings.drain_timeout_us);
    let streams = u64::from(settings.flows).saturating_mul(settings.streams.into());
    let ahead = settings.rate_bps.map(|_| streams.saturating_mul(settings.length_bytes.into()));
    Demand { ahead_bytes: ahead.unwrap_or(0), ..demand }
}

fn bulk(test: TestName, family: Option<u8>, flows: u32, [duration_us, pad_us]: [u64; 2]) -> Demand {
    Demand { pad_us, ..Demand::new(test, family, flows, duration_us) }
}

impl Demand {
    fn with_rate(self, per_flow_bps: Option<u64>) -> Self {
        let rate = per_flow_bps.map(|rate| Rate::Stated(rate.saturating_mul(self.flows.into())));
        Self { rate: rate.unwrap_or(self.rate), ..self }
    }

    /// `of_flow`: samples of each flow at the end of an interval.
    fn with_samples(self, of_flow: u32, interval_us: u64) -> Self {
        let at_once = u64::from(self.flows) * u64::from(of_flow);
        let samples = (u128::from(at_once) * 1_000_000).div_ceil(interval_us.max(1).into());
        Self { samples_per_s: u64::try_from(samples).unwrap_or(u64::MAX), ..self }
    }

    fn with_beyond(self, connect_us: u64, drain_us: u64) -> Self {
        let beyond_us = connect_us.saturating_add(self.pad_us).saturating_add(drain_us);
        Self { beyond_us, drain_us, ..self }
    }
}

fn rtt(settings: &RttSettings) -> Demand {
    // A handshake has no payload; what else may be chosen is answered with the same size.
    let comes_back = settings.echo != Echo::TcpConnect;
    let largest = u64::from(settings.sizes_bytes.iter().copied().max().unwrap_or(0));
    let largest = if comes_back { 2 * largest } else { largest };
    let every_us = settings.every_us.max(1);
    let mean = (u128::from(largest) * 8_000_000).div_ceil(u128::from(every_us));
    let probes = (settings.duration_us / every_us).saturating_mul(2).saturating_add(FEW_PROBES);
    Demand {
        rate: Rate::Stated(u64::try_from(mean).unwrap_or(u64::MAX)),
        beyond_us: settings.connect_timeout_us.saturating_add(settings.timeout_us),
        bytes: Some(probes.saturating_mul(largest)),
        probe_bytes: Some(largest),
        comes_back,
        ..Demand::new(TestName::Rtt, settings.family, 1, settings.duration_us)
    }
}

fn path(settings: &PathSettings) -> Demand {
    let largest = u64::from(settings.sizes_bytes.iter().copied().max().unwrap_or(0));
    let per_size = u64::from(settings.probes).saturating_mul(settings.sizes_bytes.len() as u64);
    let hops =
        per_size.saturating_mul(settings.ttl_max.into()).saturating_mul(largest).saturating_mul(HOP_TRIES.into());
    let packets =
        |times: u64, packets: u32| times.saturating_mul(packets.into()).saturating_mul(settings.train_bytes.into());
    let grown = packets(settings.trains.into(), settings.train_packets.max(TRAIN_PACKETS_MAX));
    // Those that grow are sent in addition, each twice as long as the one before.
    let growing = packets(if settings.trains > 0 { 2 } else { 0 }, TRAIN_PACKETS_MAX);
    let trains = grown.saturating_add(growing);
    let streams = u64::from(settings.streams).saturating_mul(settings.stream_rates.into());
    let streams = streams.saturating_mul(STREAM_TRIES.into());
    let streams = packets(streams, settings.stream_packets);
    let probed = (u128::from(largest) * 8_000_000).div_ceil(u128::from(settings.every_us.max(1)));
    let in_bursts = trains > 0 || streams > 0;
    Demand {
        rate: if in_bursts { Rate::Bursts } else { Rate::Stated(u64::try_from(probed).unwrap_or(u64::MAX)) },
        beyond_us: settings.connect_timeout_us,
        bytes: Some(hops.saturating_add(trains).saturating_add(streams)),
        ..Demand::new(TestName::Path, settings.family, 1, settings.deadline_us)
    }
}

fn unbounded(what: &str, why: &'static str) -> Refusal {
    Refusal::Unbounded { what: what.into(), why }
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}
