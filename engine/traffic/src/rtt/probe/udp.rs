use std::{io, os::fd::AsFd};

use rustix::event::{PollFd, PollFlags};
use sys::receive_datagram;
use wire::{EchoMessage, RttSettings};

use super::prober::{Prober, Response};
use crate::{
    Task,
    defaults::{DATAGRAMS_AT_ONCE, ECHO_MAX_BYTES},
    kernel_time::{KernelTime, Steps},
    rendezvous::Rendezvous,
};

/// Probes with datagrams, which the sink's engine sends back.
pub struct UdpProber<'a> {
    task: &'a Task<'a, RttSettings>,
    rendezvous: &'a Rendezvous,
    request: Vec<u8>,
    response: Vec<u8>,
    kernel: KernelTime,
}

impl<'a> UdpProber<'a> {
    /// Over the socket of the rendezvous.
    pub fn new(task: &'a Task<'_, RttSettings>, rendezvous: &'a Rendezvous) -> Self {
        let buffer = || vec![0; ECHO_MAX_BYTES as usize];
        Self { task, rendezvous, request: buffer(), response: buffer(), kernel: KernelTime::begin() }
    }
}

impl Prober for UdpProber<'_> {
    fn send(&mut self, sequence: u64, size_bytes: u32) -> io::Result<()> {
        let request = &mut self.request[..size_bytes as usize];
        EchoMessage::Request(sequence).write(self.task.token, request);
        match self.rendezvous.socket.send(request) {
            // An ICMP error about an earlier request is reported here: it says nothing of this one.
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                self.rendezvous.socket.send(request).map(drop)
            }
            sent => sent.map(drop),
        }
    }

    fn receive(&mut self, _: u64, received: &mut dyn FnMut(Response)) {
        for _ in 0..DATAGRAMS_AT_ONCE {
            let datagram = match receive_datagram(&self.rendezvous.socket, &mut self.response) {
                Ok(datagram) => datagram,
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => continue,
                Err(_) => return self.kernel.drained(),
            };
            self.kernel.look();
            let Some(bytes) = self.response.get(..datagram.length) else { continue };
            match EchoMessage::read(self.task.answer, bytes) {
                Some(EchoMessage::Response(sequence)) => {
                    received(Response::from_datagram(sequence, &datagram, &mut self.kernel));
                }
                _ => drop(self.rendezvous.answer_opening(bytes)),
            }
        }
    }

    fn steps(&self) -> Option<Steps> {
        Some(self.kernel.steps)
    }

    fn watch<'a>(&'a self, watched: &mut Vec<PollFd<'a>>) {
        watched.push(PollFd::from_borrowed_fd(self.rendezvous.socket.as_fd(), PollFlags::IN));
    }
}
