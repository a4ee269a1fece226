//! What waits for the transmitter, the packet that is being transmitted included.

use std::collections::VecDeque;

/// A drop-tail queue of known departures: since packets leave in order and at a known rate, when each one leaves is
/// known as soon as it comes.
#[derive(Debug)]
pub struct Queue {
    max_bytes: u64,
    max_packets: u64,
    /// Most packets there is memory for.
    entries_max: usize,
    bytes: u64,
    /// When each packet is out, and its bytes.
    departures: VecDeque<(u64, u32)>,
}

impl Queue {
    pub fn new(max_bytes: u64, max_packets: u64, entries_max: usize) -> Self {
        Self { max_bytes, max_packets, entries_max, bytes: 0, departures: VecDeque::new() }
    }

    /// Lets go what is out at `now`.
    pub fn advance(&mut self, now: u64) {
        while let Some((departure, bytes)) = self.departures.front()
            && *departure <= now
        {
            self.bytes -= u64::from(*bytes);
            self.departures.pop_front();
        }
    }

    /// Whether one more packet of this size may wait.
    pub fn has_room(&self, bytes: u32) -> bool {
        self.bytes + u64::from(bytes) <= self.max_bytes && self.packets() < self.max_packets
    }

    /// Whether there is memory to remember one more packet. A queue without limits may hold packets whose bytes are not
    /// kept any more, since they will be lost at random.
    pub fn has_memory(&self) -> bool {
        self.departures.len() < self.entries_max
    }

    /// Takes a packet that will be out at `departure`.
    pub fn push(&mut self, departure: u64, bytes: u32) {
        self.bytes += u64::from(bytes);
        self.departures.push_back((departure, bytes));
    }

    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    pub fn packets(&self) -> u64 {
        self.departures.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_it_remembers_is_bounded_even_if_its_packets_are_not() {
        let mut queue = Queue::new(u64::MAX, u64::MAX, 2);
        for departure in [10, 20] {
            assert!(queue.has_memory());
            queue.push(departure, 1);
        }
        assert!(queue.has_room(1) && !queue.has_memory());
        queue.advance(10);
        assert!(queue.has_memory());
    }
}
