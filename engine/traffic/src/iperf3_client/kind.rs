//! What differs between a test of TCP connections and one of streams of datagrams.

use std::{thread::Scope, time::Duration};

use iperf3::Cookie;
use wire::{FlowReport, Granted, Iperf3};

use super::{conversation::Conversation, outcome::Seen, request::RequestedSettings, run::Times, server::Server};
use crate::{
    Task, TrialError,
    coordinator::{Sampling, Side},
    flow::Flows,
    halt::Halt,
    samples::Delivery,
};

/// What carries a flow of a kind of test.
pub type ConnectionOf<K> = <<K as Kind>::Sampler as Sampling>::Connection;

/// How a server is reached, as both kinds of test have it.
#[derive(Clone, Copy, Debug)]
pub struct Reach {
    /// 4 or 6: the IP version to use.
    pub family: Option<u8>,
    /// How long connecting may take.
    pub connect_timeout: Duration,
    /// How long the path may be silent.
    pub silence: Duration,
    /// How often to record.
    pub sample_interval: Duration,
}

/// A kind of test.
pub trait Kind {
    /// What the controller tells of it.
    type Settings: RequestedSettings;
    /// Who samples its flows.
    type Sampler: Sampling;
    /// What the flows of one direction need in memory.
    type Buffers;
    /// Checks every setting against what this engine can do.
    fn check(task: &Task<'_, Self::Settings>) -> Result<(), TrialError>;
    /// Makes the buffers of one direction.
    fn buffers(task: &Task<'_, Self::Settings>) -> Result<Self::Buffers, TrialError>;
    /// How the server is reached.
    fn reach(settings: &Self::Settings) -> Reach;
    /// The times of the test.
    fn times(settings: &Self::Settings, server: &Iperf3) -> Times;
    /// Opens the flows of one direction, one after the other: a server knows them by their order.
    fn open(
        task: &Task<'_, Self::Settings>,
        server: &Server,
        cookie: &Cookie,
        conversation: &mut Conversation,
        halt: &Halt<'_>,
    ) -> Result<(Vec<ConnectionOf<Self>>, Granted), TrialError>;
    /// Who samples the flows of one direction.
    fn sampler(task: &Task<'_, Self::Settings>, flows: &Flows<ConnectionOf<Self>>) -> Self::Sampler;
    /// Starts the threads of one direction.
    fn spawn_all<'scope, 'env>(
        scope: &'scope Scope<'scope, 'env>,
        flows: &'env Flows<ConnectionOf<Self>>,
        task: &'env Task<'env, Self::Settings>,
        buffers: &'env mut Self::Buffers,
    ) -> Result<(), TrialError>;
    /// What we saw of one direction, to be reported to the server.
    fn seen(side: &Side<'_, Self::Sampler>, settings: &Self::Settings) -> Vec<Seen>;
    /// Hands the samples of one direction over; returns the reports of its flows, and a remark if there is one.
    fn deliver(
        sampler: Self::Sampler,
        flows: Flows<ConnectionOf<Self>>,
        tables: &mut Delivery<'_>,
    ) -> Result<(Vec<FlowReport>, Option<String>), TrialError>;
    /// Whether flows consist of datagrams.
    const DATAGRAMS: bool;
}
