//! What a question can be asked with.

mod asker;
mod icmp;
mod tcp_connect;
mod udp;

use std::time::Instant;

pub use asker::Asker;
use wire::{Echo, RttSettings};

use self::{icmp::IcmpAsker, tcp_connect::ConnectAsker, udp::UdpAsker};
use crate::{
    Task, TrialError,
    defaults::{ICMP_TRIAL, ICMP_TRIAL_QUESTIONS},
    rendezvous::{Rendezvous, wait_readable},
};

/// What is asked with.
pub struct Chosen<'a> {
    /// It.
    pub asker: Box<dyn Asker + 'a>,
    /// Its name.
    pub echo: Echo,
    /// Why it is not what was asked for first.
    pub remark: Option<String>,
}

/// Takes what the settings say; for `auto` ICMP echo, if this user may send it and the sink's host answers it.
///
/// # Errors
/// What was asked for is not permitted here.
pub fn choose<'a>(task: &'a Task<'_, RttSettings>, rendezvous: &'a Rendezvous) -> Result<Chosen<'a>, TrialError> {
    let datagrams = |remark| Chosen { asker: Box::new(UdpAsker::new(task, rendezvous)), echo: Echo::Udp, remark };
    match task.settings.echo {
        Echo::Udp => Ok(datagrams(None)),
        Echo::TcpConnect => {
            Ok(Chosen { asker: Box::new(ConnectAsker::new(task, rendezvous)), echo: Echo::TcpConnect, remark: None })
        }
        Echo::Icmp => match IcmpAsker::open(task, rendezvous) {
            Ok(asker) => Ok(Chosen { asker: Box::new(asker), echo: Echo::Icmp, remark: None }),
            Err(source) => Err(TrialError::Socket {
                what: "this user may not send ICMP echo here: allow it with `sysctl -w \
                       net.ipv4.ping_group_range=\"0 2147483647\"`, or say `echo = \"udp\"`"
                    .into(),
                source,
            }),
        },
        Echo::Auto => Ok(match IcmpAsker::open(task, rendezvous).map(with_answers) {
            Ok(Some(asker)) => Chosen { asker: Box::new(asker), echo: Echo::Icmp, remark: None },
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

/// It, if any of some questions is answered at all. Their numbers are such as no trial has.
fn with_answers(mut asker: IcmpAsker) -> Option<IcmpAsker> {
    for number in 0..ICMP_TRIAL_QUESTIONS {
        let again = Instant::now() + ICMP_TRIAL / ICMP_TRIAL_QUESTIONS;
        if asker.ask(u64::MAX - u64::from(number), 64).is_err() {
            return None;
        }
        while Instant::now() < again {
            wait_readable(&asker, again.saturating_duration_since(Instant::now()));
            let mut heard = false;
            asker.hear(0, &mut |_| heard = true);
            if heard {
                return Some(asker);
            }
        }
    }
    None
}
