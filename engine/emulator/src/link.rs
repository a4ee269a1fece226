//! One direction of a link, without devices and without a clock: packets and times go in, pieces come out.

use std::ops::Range;

use fastrand::Rng;
use wire::DirectionCounters;

use crate::{
    chance::Chance,
    cross::CrossTraffic,
    defaults::{LATE_AFTER, PIECE_MAX, QUEUE_ENTRIES_MAX},
    delay_line::{Arrival, DelayLine},
    packet::Packet,
    policer::Policer,
    queue::Queue,
    request::DirectionSettings,
    serializer::Serializer,
};

/// Neighbouring segments of one packet that are handed over together. `B` tells where the bytes are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece<B> {
    pub packet: Packet,
    pub segments: Range<u32>,
    pub buffer: B,
    /// It has been on its way once already.
    pub is_copy: bool,
}

impl<B> Piece<B> {
    /// Whether it is all of its packet.
    pub fn is_whole(&self) -> bool {
        self.segments == (0..self.packet.segments())
    }

    /// Number and bytes of its IP packets.
    fn totals(&self) -> (u64, u64) {
        let bytes = self.segments.clone().map(|index| u64::from(self.packet.segment_bytes(index))).sum();
        (u64::from(self.segments.end - self.segments.start), bytes)
    }
}

/// Policer, serializer and queue, where cross traffic joins, then loss and duplication, then the delay line. All times
/// are in ns of one clock.
#[derive(Debug)]
pub struct Link<B> {
    settings: DirectionSettings,
    /// Longest transmission time of a piece; with jitter each packet has its own delay and goes alone.
    piece_max_ns: Option<u64>,
    policer: Option<Policer>,
    serializer: Serializer,
    queue: Queue,
    loss: Chance,
    duplicate: Chance,
    cross: Option<CrossTraffic>,
    jitter: Rng,
    line: DelayLine<Piece<B>>,
    latest_due: u64,
    late_max_ns: u64,
    counters: DirectionCounters,
}

impl<B: Copy> Link<B> {
    pub fn new(settings: DirectionSettings, mut random: Rng) -> Self {
        let piece_max = u64::try_from(PIECE_MAX.as_nanos()).unwrap_or(u64::MAX);
        Self {
            settings,
            piece_max_ns: (settings.jitter_ns == 0).then_some(piece_max),
            policer: settings.policer.map(Policer::new),
            serializer: Serializer::new(settings.rate_bps),
            queue: Queue::new(settings.queue_bytes, settings.queue_packets, QUEUE_ENTRIES_MAX),
            loss: Chance::new(settings.loss, random.fork()),
            jitter: random.fork(),
            // The last ones drawn: a seed gives the losses and jitter that it gave before there were duplicates.
            duplicate: Chance::new(settings.duplicate, random.fork()),
            cross: settings.cross.map(|cross| CrossTraffic::new(cross, random.fork())),
            line: DelayLine::new(),
            latest_due: 0,
            late_max_ns: 0,
            counters: DirectionCounters::default(),
        }
    }

    /// Takes a packet that arrived at `now`; returns into how many pieces it went: none if all of it was dropped.
    pub fn arrive(&mut self, now: u64, packet: Packet, buffer: B) -> u32 {
        self.count_in(&packet);
        self.carry_cross_traffic(now);
        self.queue.advance(now);
        let mut pieces = 0;
        let mut run = Run::default();
        for index in 0..packet.segments() {
            let bytes = packet.segment_bytes(index);
            let departure = self.transmit(now, bytes);
            if departure.is_none_or(|departure| !run.takes(index, departure, self.piece_max_ns)) {
                pieces += self.dispatch(&run, packet, buffer);
                run = Run::default();
            }
            if let Some(departure) = departure {
                run.extend(index, departure);
                if self.duplicate.strikes() {
                    pieces += self.dispatch(&run, packet, buffer);
                    pieces += self.repeat(index, packet, buffer);
                    run = Run::default();
                }
            }
        }
        pieces += self.dispatch(&run, packet, buffer);
        self.counters.queue_max_bytes = self.counters.queue_max_bytes.max(self.queue.bytes());
        pieces
    }

    /// Counts a packet for which there was no memory.
    pub fn overload(&mut self, packet: &Packet) {
        self.count_in(packet);
        self.counters.dropped_overload_packets += u64::from(packet.segments());
    }

    /// Counts something that is no IP packet.
    pub fn malformed(&mut self, bytes: u64) {
        self.counters.packets_in += 1;
        self.counters.bytes_in += bytes;
        self.counters.dropped_malformed_packets += 1;
    }

    /// When the next piece has to be handed over.
    pub fn next_due(&self) -> Option<u64> {
        self.line.next_due()
    }

    /// The next piece that is due at `now`. Whoever takes it says how it went.
    pub fn take(&mut self, now: u64) -> Option<Arrival<Piece<B>>> {
        self.line.pop(now)
    }

    /// Counts a piece that was handed over at `now`.
    pub fn handed_over(&mut self, now: u64, arrival: &Arrival<Piece<B>>) {
        let (packets, bytes) = arrival.item.totals();
        self.counters.packets_out += packets;
        self.counters.bytes_out += bytes;
        self.counters.reordered_packets += if arrival.reordered && !arrival.item.is_copy { packets } else { 0 };
        let late_ns = now.saturating_sub(arrival.due);
        self.late_max_ns = self.late_max_ns.max(late_ns);
        if u128::from(late_ns) > LATE_AFTER.as_nanos() {
            self.counters.late_packets += packets;
        }
    }

    /// Counts a piece that the receiving kernel did not take for a packet.
    pub fn refused(&mut self, piece: &Piece<B>) {
        self.counters.dropped_malformed_packets += piece.totals().0;
    }

    /// Counts a piece for which the receiving kernel had no memory.
    pub fn no_memory(&mut self, piece: &Piece<B>) {
        self.counters.dropped_overload_packets += piece.totals().0;
    }

    /// The counters at `now`. Maxima begin anew.
    pub fn report(&mut self, now: u64) -> DirectionCounters {
        self.carry_cross_traffic(now);
        self.queue.advance(now);
        let (queue_bytes, queue_packets) = (self.queue.bytes(), self.queue.packets());
        let late_max_us = std::mem::take(&mut self.late_max_ns) / 1000;
        let report = DirectionCounters { queue_bytes, queue_packets, late_max_us, ..self.counters };
        self.counters.queue_max_bytes = queue_bytes;
        report
    }

    fn count_in(&mut self, packet: &Packet) {
        let segments = packet.segments();
        let each = u64::from(packet.segment_bytes(0));
        let last = u64::from(packet.segment_bytes(segments - 1));
        self.counters.packets_in += u64::from(segments);
        self.counters.bytes_in += each * u64::from(segments - 1) + last;
    }

    /// One IP packet through policer, queue, serializer and loss: when it is out, if it survives.
    fn transmit(&mut self, now: u64, bytes: u32) -> Option<u64> {
        if self.policer.as_mut().is_some_and(|policer| !policer.passes(now, bytes)) {
            self.counters.dropped_policer_packets += 1;
            return None;
        }
        // Without a rate nothing waits, and no limit matters.
        let waits = self.settings.rate_bps.is_some();
        if waits && !self.queue.has_room(bytes) {
            self.counters.dropped_queue_packets += 1;
            return None;
        }
        if waits && !self.queue.has_memory() {
            self.counters.dropped_overload_packets += 1;
            return None;
        }
        let departure = self.serializer.send(now, bytes);
        if waits {
            self.queue.push(departure, bytes);
        }
        if self.loss.strikes() {
            self.counters.dropped_loss_packets += 1;
            return None;
        }
        Some(departure)
    }

    /// Takes what has come of the cross traffic by `now`. Nobody waits for its arrival, so it is early enough when the
    /// next packet of a host comes, or somebody asks for counters.
    fn carry_cross_traffic(&mut self, now: u64) {
        let Some(cross) = &mut self.cross else { return };
        let bytes = cross.packet_bytes();
        while let Some(at) = cross.next(now) {
            self.counters.cross_packets_in += 1;
            self.counters.cross_bytes_in += u64::from(bytes);
            self.queue.advance(at);
            if !self.queue.has_room(bytes) {
                self.counters.cross_dropped_packets += 1;
            } else if !self.queue.has_memory() {
                self.counters.dropped_overload_packets += 1;
            } else {
                self.queue.push(self.serializer.send(at, bytes), bytes);
                self.counters.queue_max_bytes = self.counters.queue_max_bytes.max(self.queue.bytes());
            }
        }
    }

    /// Puts a run on the wire: one piece, or none if it is empty.
    fn dispatch(&mut self, run: &Run, packet: Packet, buffer: B) -> u32 {
        if run.segments.is_empty() {
            return 0;
        }
        let DirectionSettings { delay_ns, jitter_ns, reorder, .. } = self.settings;
        let delay_ns = self.jitter.u64(delay_ns - jitter_ns..=delay_ns + jitter_ns);
        let due = run.last_departure + delay_ns;
        let due = if reorder { due } else { due.max(self.latest_due) };
        self.latest_due = due;
        self.line.push(due, Piece { packet, segments: run.segments.clone(), buffer, is_copy: false });
        1
    }

    /// Has the last IP packet that was put on the wire arrive a second time, right behind itself.
    fn repeat(&mut self, index: u32, packet: Packet, buffer: B) -> u32 {
        self.counters.duplicated_packets += 1;
        self.line.push(self.latest_due, Piece { packet, segments: index..index + 1, buffer, is_copy: true });
        1
    }
}

/// Segments that may become one piece.
#[derive(Default)]
struct Run {
    segments: Range<u32>,
    first_departure: u64,
    last_departure: u64,
}

impl Run {
    fn takes(&self, index: u32, departure: u64, piece_max_ns: Option<u64>) -> bool {
        let short = piece_max_ns.is_some_and(|max_ns| departure - self.first_departure <= max_ns);
        self.segments.is_empty() || (short && self.segments.end == index)
    }

    fn extend(&mut self, index: u32, departure: u64) {
        if self.segments.is_empty() {
            (self.segments, self.first_departure) = (index..index, departure);
        }
        self.segments.end = index + 1;
        self.last_departure = departure;
    }
}
