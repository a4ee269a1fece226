//! What a limits file says, once it was read: rules, the first of which that fits a peer and a controller is the one that
//! applies.

use std::{net::IpAddr, path::PathBuf, time::Duration};

use serving::Network;

use crate::{moment::Between, test_name::TestName};

/// Limits of a standing point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Folder that all engines of the point share: turns, and bytes by day.
    pub state: PathBuf,
    /// File to which trials are written, one line of JSON an event.
    pub audit: PathBuf,
    /// Controllers that measure at once.
    pub at_once: usize,
    /// How long a controller waits for its turn.
    pub wait: Duration,
    /// Who may do what, in the file's order.
    pub rules: Vec<Rule>,
}

/// What one group of peers may do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Its name, which refusals say.
    pub name: String,
    /// Networks of the other ends of trials.
    pub peers: Vec<Network>,
    /// Networks that controllers log in from; nothing: all, and this host itself.
    pub controllers: Option<Vec<Network>>,
    /// What may be measured.
    pub tests: Vec<TestName>,
    /// Rate of all flows that a controller has at once, in bit/s of what they carry; nothing: any.
    pub rate_bps: Option<u64>,
    /// Longest trial.
    pub duration_us: u64,
    /// Flows that a controller has at once.
    pub flows: u32,
    /// Bytes that all trials of a day (UTC) carry; nothing: any.
    pub bytes_per_day: Option<u64>,
    /// Times of the day at which trials may run.
    pub between: Between,
}

impl Limits {
    /// The rules for a controller, in the file's order.
    pub fn rules_for(&self, controller: Option<IpAddr>) -> impl Iterator<Item = &Rule> {
        self.rules.iter().filter(move |rule| rule.is_for(controller))
    }

    /// The rule that applies to a peer and a controller.
    #[must_use]
    pub fn rule(&self, peer: IpAddr, controller: Option<IpAddr>) -> Option<&Rule> {
        self.rules_for(controller).find(|rule| rule.has_peer(peer))
    }
}

impl Rule {
    /// Whether trials with this peer are its.
    #[must_use]
    pub fn has_peer(&self, peer: IpAddr) -> bool {
        self.peers.iter().any(|network| network.contains(peer))
    }

    /// Whether it says anything of a controller from there; nothing: it is not known from where.
    #[must_use]
    pub fn is_for(&self, controller: Option<IpAddr>) -> bool {
        let Some(networks) = &self.controllers else { return true };
        controller.is_some_and(|address| networks.iter().any(|network| network.contains(address)))
    }
}
