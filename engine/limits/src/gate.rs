//! What one session of a controller may do: each end of a trial is admitted, or refused before any traffic.

use std::{
    net::{IpAddr, SocketAddr},
    path::Path,
    sync::Arc,
};

use wire::{Prepare, RendezvousRole, Test};

use crate::{
    Limits, Rule,
    admitted::Admitted,
    check::{Grant, Held},
    demand::Demand,
    moment::Moment,
    refusal::Refusal,
    session::{Asking, Got, Session},
    turns::Who,
    units::write_rate,
};

/// Finds the address of a name: name, port, and 4 or 6 if only that IP version will do.
pub type Resolve = fn(&str, u16, Option<u8>) -> Result<SocketAddr, String>;

/// The limits of a file, as they hold for one session: it is read for each end of a trial, since controllers may keep a session
/// for months.
pub struct Gate {
    session: Arc<Session>,
    resolve: Resolve,
}

impl Gate {
    /// The limits of a file, for a controller. While they cannot be read, everything is refused.
    #[must_use]
    pub fn new(file: &Path, who: Who, resolve: Resolve) -> Self {
        Self { session: Arc::new(Session::new(who, file.into())), resolve }
    }

    /// Waits for a turn, if others have theirs, and takes what an end of a trial may have.
    ///
    /// # Arguments
    /// `stopped`: whether nobody waits for the answer any more.
    ///
    /// # Errors
    /// [`Refusal`]; nothing of the trial may begin.
    pub fn admit(&self, prepare: &Prepare, stopped: &dyn Fn() -> bool) -> Result<Admitted, Refusal> {
        let admitted = self.decide(prepare, stopped);
        if let Err(refusal) = &admitted {
            self.session.audit_refusal(prepare, refusal);
        }
        admitted
    }

    /// Refuses an end of a trial that is one of too many at once.
    #[must_use]
    pub fn refuse_one_of(&self, most: usize, prepare: &Prepare) -> Refusal {
        let what = format!("more than {most} ends of trials at once");
        let refusal = Refusal::Unbounded { what, why: "no plan needs so many" };
        self.session.audit_refusal(prepare, &refusal);
        refusal
    }

    fn decide(&self, prepare: &Prepare, stopped: &dyn Fn() -> bool) -> Result<Admitted, Refusal> {
        let limits = self.session.read_limits().map_err(Refusal::Broken)?;
        let demand = Demand::of(prepare)?;
        let (prepare, rules) = self.rules_of(&limits, prepare, &demand)?;
        let asking = Asking { limits: &limits, demand: &demand, rules: &rules };
        let got = self.session.wait_for_place(&asking, stopped)?;
        let (prepare, remarks) = (granted(prepare, &got.grant), remarks(&got));
        let admitted = Admitted::new(self.session.clone(), prepare, remarks, demand, got);
        if let Err(error) = admitted.audit_begin() {
            // What would leave no trace does not begin.
            admitted.finish("failed", Some(&error), Some(0));
            return Err(Refusal::Broken(error));
        }
        Ok(admitted)
    }

    /// The rules that may come to apply, and the request with the address that was looked at.
    fn rules_of<'a>(
        &self,
        limits: &'a Limits,
        prepare: &Prepare,
        demand: &Demand,
    ) -> Result<(Prepare, Vec<&'a Rule>), Refusal> {
        let controller = self.session.who.address;
        let rules: Vec<&Rule> = limits.rules_for(controller).collect();
        let mut prepare = prepare.clone();
        let RendezvousRole::Connect { address, port, bind, .. } = &mut prepare.rendezvous else {
            return if rules.is_empty() { Err(Refusal::Controller(controller)) } else { Ok((prepare, rules)) };
        };
        let refusals = || rules.iter().map(|rule| rule.grant(demand, Held::default(), 0, Moment::now()).err());
        let none_allows = refusals().all(|refusal| refusal.is_some());
        if address.parse::<IpAddr>().is_err() && none_allows {
            // Not even the name is looked up.
            return Err(refusals().flatten().next().unwrap_or(Refusal::Controller(controller)));
        }
        let family = demand.family.or(bind.map(|local| if local.is_ipv4() { 4 } else { 6 }));
        let peer = (self.resolve)(address, *port, family).map_err(Refusal::Unresolved)?;
        let refused = Refusal::Peer { peer: peer.ip().to_canonical(), controller };
        let rule = limits.rule(peer.ip(), controller).ok_or(refused)?;
        // What was looked at is where it goes: the name may mean something else the next time.
        *address = numeric(peer);
        Ok((prepare, vec![rule]))
    }
}

/// The request with the pace that its flows are held to.
fn granted(mut prepare: Prepare, grant: &Grant) -> Prepare {
    match &mut prepare.test {
        Test::Tcp(settings) => {
            settings.pacing_rate_bps = grant.paced_bps.or(grant.stated_bps).or(settings.pacing_rate_bps);
        }
        Test::Quic(settings) if grant.paced_bps.is_some() => settings.rate_bps = grant.paced_bps,
        _ => {}
    }
    prepare
}

fn remarks(got: &Got) -> Vec<String> {
    let paced = got.grant.paced_bps.map(|rate| {
        let names = got.rules.join(", ");
        format!("the standing point (rule {names}) holds each flow to {}: the request stated no rate", write_rate(rate))
    });
    paced.into_iter().collect()
}

fn numeric(peer: SocketAddr) -> String {
    match peer {
        SocketAddr::V6(peer) if peer.scope_id() != 0 => format!("{}%{}", peer.ip(), peer.scope_id()),
        peer => peer.ip().to_string(),
    }
}
