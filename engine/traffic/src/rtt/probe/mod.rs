//! The kinds of probes of the round-trip time.

mod icmp;
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

/// Takes what the settings say; for `auto` ICMP echo, if this user may send it and the sink's host answers it.
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
            Ok(prober) => Ok(Chosen { prober: Box::new(prober), echo: Echo::Icmp, remark: None }),
            Err(source) => Err(TrialError::Socket {
                what: "this user may not send ICMP echo here: allow it with `sysctl -w \
                       net.ipv4.ping_group_range=\"0 2147483647\"`, or say `echo = \"udp\"`"
                    .into(),
                source,
            }),
        },
        Echo::Auto => Ok(match IcmpProber::open(task, rendezvous).map(with_responses) {
            Ok(Some(prober)) => Chosen { prober: Box::new(prober), echo: Echo::Icmp, remark: None },
            Ok(None) => datagrams(Some(format!(
                "{} does not answer ICMP echo: datagrams are answered by the other engine instead",
                rendezvous.peer.ip()
            ))),
            Err(error) => datagrams(Some(format!(
                "this user may not send ICMP echo ({error}): datagrams are answered by the other engine instead"
            ))),
        }),
    }
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
