//! An end of a trial that was admitted, until it has ended: whom it may exchange traffic with, how much, and for how long.

use std::{
    collections::BTreeSet,
    net::IpAddr,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use serde_json::json;
use wire::{Prepare, Role};

use crate::{
    asked::asked_of,
    demand::Demand,
    moment::Moment,
    refusal::Refusal,
    session::{Got, Session},
};

/// Peers of one end that are kept for the audit.
const PEERS_KEPT: usize = 16;

/// An end of a trial that may begin.
pub struct Admitted {
    /// The request, as it is to be carried out.
    pub prepare: Prepare,
    /// What was changed of it, a sentence each.
    pub remarks: Vec<String>,
    session: Arc<Session>,
    demand: Demand,
    got: Got,
    peers: Mutex<BTreeSet<IpAddr>>,
    over: AtomicBool,
}

impl Admitted {
    /// An end that got its place.
    pub(crate) fn new(session: Arc<Session>, prepare: Prepare, remarks: Vec<String>, demand: Demand, got: Got) -> Self {
        Self { prepare, remarks, session, demand, got, peers: Mutex::default(), over: AtomicBool::new(false) }
    }

    /// How long it may take, at most.
    #[must_use]
    pub fn longest(&self) -> Duration {
        Duration::from_micros(self.demand.longest_us())
    }

    /// How long the times of the day last at which it may run; nothing: they have no end that it could meet.
    ///
    /// They are those of the rules of its peers. Until peers are known some rule has to let it run.
    #[must_use]
    pub fn open_for(&self, now: Moment) -> Option<Duration> {
        let peers = self.peers.lock().unwrap_or_else(PoisonError::into_inner);
        let of_peers = peers.iter().filter_map(|peer| self.got.limits.rule(*peer, self.session.who.address));
        let closes = if peers.is_empty() {
            let rules = self.got.limits.rules.iter().filter(|rule| self.got.rules.contains(&rule.name));
            let closes: Option<Vec<_>> = rules.map(|rule| rule.between.closes(now)).collect();
            closes.and_then(|closes| closes.into_iter().max())
        } else {
            of_peers.filter_map(|rule| rule.between.closes(now)).min()
        };
        closes.map(|moment| Duration::from_secs(moment.0.saturating_sub(now.0)))
    }

    /// How long what was sent may take to come.
    #[must_use]
    pub fn drain(&self) -> Duration {
        Duration::from_micros(self.demand.drain_us)
    }

    /// It runs: others are told until when.
    pub fn runs(&self) {
        let until = Moment::now().after(Duration::from_micros(self.demand.longest_run_us()));
        // What was said before holds, too: it is later.
        let _ = self.session.shorten(&self.got, until);
    }

    /// Whether traffic with a peer may be exchanged, whose address the kernel says.
    ///
    /// # Errors
    /// Why not.
    pub fn check_peer(&self, peer: IpAddr) -> Result<(), Refusal> {
        let controller = self.session.who.address;
        let none = || Refusal::Peer { peer: peer.to_canonical(), controller };
        let rule = self.got.limits.rule(peer, controller).ok_or_else(none)?;
        if !self.got.rules.contains(&rule.name) {
            let own = self.got.refused.iter().find(|(name, _)| *name == rule.name);
            return Err(own.map_or_else(none, |(_, refusal)| refusal.clone()));
        }
        let mut peers = self.peers.lock().unwrap_or_else(PoisonError::into_inner);
        if peers.len() < PEERS_KEPT {
            peers.insert(peer.to_canonical());
        }
        Ok(())
    }

    /// What may come to it, at most, with what it answers: that is others'.
    #[must_use]
    pub fn bytes_max(&self) -> Option<u64> {
        self.got.grant.bytes.filter(|_| self.demand.role == Role::Sink)
    }

    /// Whether so many bytes after such a time are more than what was asked for.
    #[must_use]
    pub fn is_too_much(&self, bytes: u64, elapsed: Duration) -> bool {
        let bytes = self.demand.both_ways(bytes);
        let too_fast = |rate| self.demand.is_faster(bytes, rate, elapsed);
        let too_fast = self.got.grant.rate_bps.is_some_and(too_fast);
        let most = if self.demand.role == Role::Sink { self.bytes_max() } else { self.sent_max() };
        (self.demand.role == Role::Sink && too_fast) || most.is_some_and(|most| bytes > most)
    }

    /// A source keeps to its rate by itself, and to its duration once all flows run: how long that takes is the sink's. It
    /// ends where all was sent that a rule has reserved of a day.
    fn sent_max(&self) -> Option<u64> {
        self.got.grant.bytes.filter(|_| self.got.grant.counted && self.demand.bytes.is_none())
    }

    /// Has it written that it begins.
    pub(crate) fn audit_begin(&self) -> Result<(), String> {
        let mut fields = asked_of(&self.prepare);
        fields["end"] = self.got.end.clone().into();
        fields["rules"] = self.got.rules.clone().into();
        fields["reserved_bytes"] = self.got.grant.bytes.into();
        self.session.audit(&self.got.limits, "begun", fields)
    }

    /// It has ended: what it had is free, and the audit says what became of it.
    ///
    /// # Arguments
    /// `bytes`: that it counted; nothing: it is not known, so that all count which were reserved.
    pub fn finish(&self, outcome: &str, reason: Option<&str>, bytes: Option<u64>) {
        if self.over.swap(true, Ordering::AcqRel) {
            return;
        }
        let bytes = bytes.map(|bytes| self.demand.both_ways(bytes));
        let peers: Vec<String> = {
            let peers = self.peers.lock().unwrap_or_else(PoisonError::into_inner);
            peers.iter().map(ToString::to_string).collect()
        };
        let mut fields = asked_of(&self.prepare);
        fields["end"] = self.got.end.clone().into();
        fields["rules"] = self.got.rules.clone().into();
        fields["peers"] = peers.into();
        fields["outcome"] = outcome.into();
        fields["reason"] = reason.into();
        fields["bytes"] = bytes.into();
        // Before its turn is free, so that lines of turns that follow each other do so, too. The trial is over: the next
        // one is refused if nothing can be written.
        let _ = self.session.audit(&self.got.limits, "ended", fields);
        let counted = bytes.or(self.got.grant.bytes).unwrap_or(0);
        if let Err(error) = self.session.leave(&self.got, counted) {
            let fields = json!({ "end": self.got.end, "reason": error });
            let _ = self.session.audit(&self.got.limits, "state_failed", fields);
        }
    }
}

impl Drop for Admitted {
    fn drop(&mut self) {
        self.finish("unknown", None, None);
    }
}
