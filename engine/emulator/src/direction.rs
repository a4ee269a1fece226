//! One direction at work: a thread that reads one device, keeps what it read until it is due, and writes the other.

use std::{
    io::IoSlice,
    os::fd::BorrowedFd,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::{Errno, read, write, writev},
};
use sys::VNET_HEADER_BYTES;

use crate::{
    arena::{Arena, Buffer},
    defaults::{CHUNKS_MAX, READ_BYTES},
    device::Device,
    error::EmulationError,
    flow::flow_of,
    link::Piece,
    packet::Packet,
    paths::{Delivery, Paths},
    segment::cut,
};

/// Paths that their thread moves packets through and the reporter looks at.
#[derive(Debug)]
pub struct SharedPaths(Mutex<Paths<Buffer>>);

impl SharedPaths {
    pub fn new(paths: Paths<Buffer>) -> Self {
        Self(Mutex::new(paths))
    }

    pub fn lock(&self) -> MutexGuard<'_, Paths<Buffer>> {
        // A panic of the other side ends the emulation anyway.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Nanoseconds since the emulation began.
#[derive(Clone, Copy, Debug)]
pub struct Clock(Instant);

impl Clock {
    pub fn start() -> Self {
        Self(Instant::now())
    }

    pub fn now(self) -> u64 {
        u64::try_from(self.0.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}

/// How a direction is asked to end.
pub struct Stop<'a> {
    pub requested: &'a AtomicBool,
    /// Becomes readable with it.
    pub wake: BorrowedFd<'a>,
}

/// What the thread of a direction works with.
pub struct Direction<'a> {
    from: &'a Device,
    to: &'a Device,
    paths: Arc<SharedPaths>,
    clock: Clock,
    stop: Stop<'a>,
    arena: Arena,
    /// Where packets are read that there is no memory for.
    spare: Vec<u8>,
}

impl<'a> Direction<'a> {
    pub fn new(from: &'a Device, to: &'a Device, paths: Arc<SharedPaths>, clock: Clock, stop: Stop<'a>) -> Self {
        Self { from, to, paths, clock, stop, arena: Arena::new(CHUNKS_MAX), spare: vec![0; READ_BYTES] }
    }

    /// Moves packets until it is stopped.
    ///
    /// # Errors
    /// When one of the devices is gone.
    pub fn run(mut self) -> Result<(), EmulationError> {
        while !self.stop.requested.load(Ordering::Relaxed) {
            self.hand_over_what_is_due()?;
            if !self.take_one()? {
                self.wait()?;
            }
        }
        Ok(())
    }

    fn hand_over_what_is_due(&mut self) -> Result<(), EmulationError> {
        loop {
            let now = self.clock.now();
            let Some(delivery) = self.paths.lock().take(now) else { return Ok(()) };
            self.hand_over(now, &delivery)?;
            self.arena.release(delivery.arrival.item.buffer);
        }
    }

    fn hand_over(&self, now: u64, delivery: &Delivery<Buffer>) -> Result<(), EmulationError> {
        let arrival = &delivery.arrival;
        let result = self.write(&arrival.item);
        let mut paths = self.paths.lock();
        let link = paths.link(delivery);
        match result {
            // A host whose device is down (EIO) loses what arrives: the link has done its part.
            Ok(_) | Err(Errno::IO) => link.handed_over(now, arrival),
            Err(Errno::NOMEM | Errno::NOBUFS | Errno::AGAIN) => link.no_memory(&arrival.item),
            Err(Errno::INVAL | Errno::MSGSIZE) => link.refused(&arrival.item),
            Err(error) => return Err(self.to.broken("write", error)),
        }
        Ok(())
    }

    fn write(&self, piece: &Piece<Buffer>) -> rustix::io::Result<usize> {
        let bytes = self.arena.bytes(piece.buffer);
        match piece.packet.division {
            Some(division) if !piece.is_whole() => {
                let part = cut(bytes, &piece.packet, division, piece.segments.clone());
                writev(self.to.file(), &[IoSlice::new(part.head()), IoSlice::new(&bytes[part.payload.clone()])])
            }
            _ => write(self.to.file(), bytes),
        }
    }

    /// Reads one packet, if there is one.
    fn take_one(&mut self) -> Result<bool, EmulationError> {
        let (room, in_arena) = match self.arena.room() {
            Some(room) => (room, true),
            None => (&mut self.spare[..], false),
        };
        let length = match read(self.from.file(), &mut *room) {
            Ok(length) => length,
            Err(Errno::AGAIN) => return Ok(false),
            Err(Errno::INTR) => return Ok(true),
            Err(error) => return Err(self.from.broken("read", error)),
        };
        let now = self.clock.now();
        let parsed = Packet::parse(&room[..length]);
        let flow = flow_of(room.get(VNET_HEADER_BYTES..length).unwrap_or_default());
        let mut paths = self.paths.lock();
        match parsed {
            None => paths.malformed((length as u64).saturating_sub(VNET_HEADER_BYTES as u64)),
            Some(packet) if !in_arena => paths.overload(&packet, flow),
            Some(packet) => {
                let buffer = self.arena.buffer(length);
                let pieces = paths.arrive(now, packet, flow, buffer);
                self.arena.keep(buffer, pieces);
            }
        }
        Ok(true)
    }

    /// Until there is something to read, the next piece is due, or it is over.
    fn wait(&self) -> Result<(), EmulationError> {
        let next_due = self.paths.lock().next_due();
        let timeout = next_due.map(|due| timespec(due.saturating_sub(self.clock.now())));
        let mut files = [
            PollFd::from_borrowed_fd(self.from.file(), PollFlags::IN),
            PollFd::from_borrowed_fd(self.stop.wake, PollFlags::IN),
        ];
        match poll(&mut files, timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(self.from.broken("poll", error)),
        }
    }
}

fn timespec(ns: u64) -> Timespec {
    let tv_sec = i64::try_from(ns / 1_000_000_000).unwrap_or(i64::MAX);
    Timespec { tv_sec, tv_nsec: i64::try_from(ns % 1_000_000_000).unwrap_or(0) }
}
