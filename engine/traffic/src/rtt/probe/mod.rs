//! The kinds of probes of the round-trip time.

mod icmp;
mod nat;
pub mod prober;
mod tcp_connect;
mod udp;

use std::time::Instant;

pub use prober::Prober;
use wire::{Echo, RttSettings};

use self::{icmp::IcmpProber, tcp_connect::ConnectProber, udp::UdpProber};
use crate::{
    Task, TrialError,
    defaults::{ICMP_TRIAL, ICMP_TRIAL_PROBES},
    rendezvous::{Rendezvous, wait_readable},
};

/// The kind of probe that was chosen.
pub struct Chosen<'a> {
    /// Sends them.
    pub prober: Box<dyn Prober + 'a>,
    /// Its name.
    pub echo: Echo,
    /// Why it is not the one that was requested.
    pub remark: Option<String>,
}

/// Takes what the settings say; for `auto` ICMP echo, if this user may send it and the sink's host answers it itself.
///
/// # Errors
/// The one that was requested is not permitted here.
pub fn choose<'a>(task: &'a Task<'_, RttSettings>, rendezvous: &'a Rendezvous) -> Result<Chosen<'a>, TrialError> {
    let datagrams = |remark| Chosen { prober: Box::new(UdpProber::new(task, rendezvous)), echo: Echo::Udp, remark };
    match task.settings.echo {
        Echo::Udp => Ok(datagrams(None)),
        Echo::TcpConnect => {
            Ok(Chosen { prober: Box::new(ConnectProber::new(task, rendezvous)), echo: Echo::TcpConnect, remark: None })
        }
        Echo::Icmp => match IcmpProber::open(task, rendezvous) {
            Ok(prober) => {
                let remark = nat::is_between(task, rendezvous).then(|| {
                    let not_own = not_its_own(rendezvous);
                    format!("{not_own}: these may be round trips to a router that translates addresses (NAT)")
                });
                Ok(Chosen { prober: Box::new(prober), echo: Echo::Icmp, remark })
            }
            Err(source) => Err(TrialError::Socket {
                what: "this user may not send ICMP echo here: allow it with `sysctl -w \
                       net.ipv4.ping_group_range=\"0 2147483647\"`, or say `echo = \"udp\"`"
                    .into(),
                source,
            }),
        },
        Echo::Auto => Ok(match answered_icmp(task, rendezvous) {
            Ok(prober) => Chosen { prober: Box::new(prober), echo: Echo::Icmp, remark: None },
            Err(why) => datagrams(Some(format!("{why}: datagrams are answered by the other engine instead"))),
        }),
    }
}

/// Probes with ICMP echo, if the sink's host answers them; otherwise why not.
fn answered_icmp(task: &Task<'_, RttSettings>, rendezvous: &Rendezvous) -> Result<IcmpProber, String> {
    let prober =
        IcmpProber::open(task, rendezvous).map_err(|error| format!("this user may not send ICMP echo ({error})"))?;
    if nat::is_between(task, rendezvous) {
        let not_own = not_its_own(rendezvous);
        return Err(format!("{not_own}, so a router that translates addresses (NAT) may answer ICMP echo"));
    }
    with_responses(prober).ok_or_else(|| format!("{} does not answer ICMP echo", rendezvous.peer.ip()))
}

fn not_its_own(rendezvous: &Rendezvous) -> String {
    format!("{} is not the sink's own address", rendezvous.peer.ip())
}

/// The prober, if any of a few probes is answered. They have numbers that no trial uses.
fn with_responses(mut prober: IcmpProber) -> Option<IcmpProber> {
    for number in 0..ICMP_TRIAL_PROBES {
        let again = Instant::now() + ICMP_TRIAL / ICMP_TRIAL_PROBES;
        if prober.send(u64::MAX - u64::from(number), 64).is_err() {
            return None;
        }
        while Instant::now() < again {
            wait_readable(&prober, again.saturating_duration_since(Instant::now()));
            let mut answered = false;
            prober.receive(0, &mut |_| answered = true);
            if answered {
                return Some(prober);
            }
        }
    }
    None
}
