use std::{io, os::fd::AsFd};

use rustix::event::{PollFd, PollFlags};
use sys::receive_datagram;
use wire::{EchoMessage, RttSettings};

use super::asker::{Asker, Heard};
use crate::{
    Task,
    defaults::{DATAGRAMS_AT_ONCE, ECHO_MAX_BYTES},
    kernel_time::{KernelTime, Steps},
    rendezvous::Rendezvous,
};

/// Asks with datagrams, which the sink's engine sends back.
pub struct UdpAsker<'a> {
    task: &'a Task<'a, RttSettings>,
    rendezvous: &'a Rendezvous,
    question: Vec<u8>,
    answer: Vec<u8>,
    kernel: KernelTime,
}

impl<'a> UdpAsker<'a> {
    /// Over the socket of the rendezvous.
    pub fn new(task: &'a Task<'_, RttSettings>, rendezvous: &'a Rendezvous) -> Self {
        let buffer = || vec![0; ECHO_MAX_BYTES as usize];
        Self { task, rendezvous, question: buffer(), answer: buffer(), kernel: KernelTime::begin() }
    }
}

impl Asker for UdpAsker<'_> {
    fn ask(&mut self, sequence: u64, size_bytes: u32) -> io::Result<()> {
        let question = &mut self.question[..size_bytes as usize];
        EchoMessage::Question(sequence).write(self.task.token, question);
        match self.rendezvous.socket.send(question) {
            // What the path said of an earlier question is reported here: it says nothing of this one.
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                self.rendezvous.socket.send(question).map(drop)
            }
            sent => sent.map(drop),
        }
    }

    fn hear(&mut self, _: u64, heard: &mut dyn FnMut(Heard)) {
        for _ in 0..DATAGRAMS_AT_ONCE {
            let datagram = match receive_datagram(&self.rendezvous.socket, &mut self.answer) {
                Ok(datagram) => datagram,
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => continue,
                Err(_) => return self.kernel.drained(),
            };
            self.kernel.look();
            let Some(bytes) = self.answer.get(..datagram.length) else { continue };
            match EchoMessage::read(self.task.answer, bytes) {
                Some(EchoMessage::Answer(sequence)) => {
                    heard(Heard::from_datagram(sequence, &datagram, &mut self.kernel));
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
