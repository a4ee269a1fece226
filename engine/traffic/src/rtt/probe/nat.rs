use std::time::Instant;

use sys::receive_datagram;
use wire::{ECHO_ADDRESS_BYTES, ECHO_HEADER_BYTES, EchoMessage, RttSettings, address_asked};

use crate::{
    Task,
    defaults::{ICMP_TRIAL, ICMP_TRIAL_PROBES},
    rendezvous::{Rendezvous, wait_readable},
};

/// Whether the sink says that it does not have the address at which this end reaches it. Then whoever has it, such as a
/// router that translates addresses, may answer ICMP echo in its place. A sink of an earlier version says nothing.
pub fn is_between(task: &Task<'_, RttSettings>, rendezvous: &Rendezvous) -> bool {
    let mut question = [0; ECHO_ADDRESS_BYTES];
    EchoMessage::Whose.write(task.token, &mut question);
    question[ECHO_HEADER_BYTES..].copy_from_slice(&address_asked(rendezvous.peer.ip().to_canonical()));
    (0..ICMP_TRIAL_PROBES).find_map(|_| ask(task, rendezvous, &question)).is_some_and(|own| !own)
}

fn ask(task: &Task<'_, RttSettings>, rendezvous: &Rendezvous, question: &[u8]) -> Option<bool> {
    // One that is not sent is not answered.
    let _ = rendezvous.socket.send(question);
    let again = Instant::now() + ICMP_TRIAL / ICMP_TRIAL_PROBES;
    let mut answer = [0; ECHO_ADDRESS_BYTES];
    while wait_readable(&rendezvous.socket, again.saturating_duration_since(Instant::now())) {
        let Ok(datagram) = receive_datagram(&rendezvous.socket, &mut answer) else { continue };
        let bytes = answer.get(..datagram.length).unwrap_or(&answer);
        match EchoMessage::read(task.answer, bytes) {
            Some(EchoMessage::Own(own)) => return Some(own),
            // The first answer to the sink's opening may have been lost.
            _ => drop(rendezvous.answer_opening(bytes)),
        }
    }
    None
}
