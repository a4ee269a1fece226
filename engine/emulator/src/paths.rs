//! One direction over one path or several, of which each flow takes one: that of its DSCP, and of equal ones one by the
//! hash-threshold of RFC 2992 (equal-cost multipath).

use wire::DirectionCounters;

use crate::{
    delay_line::Arrival,
    flow::{Flow, mixed},
    link::{Link, Piece},
    packet::Packet,
};

/// Links side by side. Which one a flow takes does not depend on how full they are.
#[derive(Debug)]
pub struct Paths<B> {
    /// One at least.
    links: Vec<Link<B>>,
    /// Of each link.
    dscps: Vec<Option<u8>>,
    seed: u64,
}

/// What comes out of one of the paths.
#[derive(Debug, PartialEq, Eq)]
pub struct Delivery<B> {
    pub path: usize,
    pub arrival: Arrival<Piece<B>>,
}

impl<B: Copy> Paths<B> {
    /// At least one link, and for each the DSCP that its flows have, if it is not for all others.
    pub fn new(links: Vec<Link<B>>, dscps: Vec<Option<u8>>, seed: u64) -> Self {
        Self { links, dscps, seed }
    }

    /// Takes a packet of a flow that arrived at `now`, see [`Link::arrive`].
    pub fn arrive(&mut self, now: u64, packet: Packet, flow: Flow, buffer: B) -> u32 {
        self.link_of(flow).arrive(now, packet, buffer)
    }

    /// Counts a packet for which there was no memory.
    pub fn overload(&mut self, packet: &Packet, flow: Flow) {
        self.link_of(flow).overload(packet);
    }

    /// Counts something that is no IP packet, and of no flow.
    pub fn malformed(&mut self, bytes: u64) {
        self.links[0].malformed(bytes);
    }

    /// When the next piece has to be handed over.
    pub fn next_due(&self) -> Option<u64> {
        self.links.iter().filter_map(Link::next_due).min()
    }

    /// The next piece that is due at `now`. Whoever takes it says how it went.
    pub fn take(&mut self, now: u64) -> Option<Delivery<B>> {
        let due = self.next_due()?;
        let path = self.links.iter().position(|link| link.next_due() == Some(due))?;
        self.links[path].take(now).map(|arrival| Delivery { path, arrival })
    }

    /// The link that a piece came from, which has to know how it went.
    pub fn link(&mut self, delivery: &Delivery<B>) -> &mut Link<B> {
        &mut self.links[delivery.path]
    }

    /// The counters of each path at `now`, see [`Link::report`].
    pub fn report(&mut self, now: u64) -> Vec<DirectionCounters> {
        self.links.iter_mut().map(|link| link.report(now)).collect()
    }

    fn path_of(&self, flow: Flow) -> usize {
        let own = Some(flow.dscp).filter(|_| self.dscps.contains(&Some(flow.dscp)));
        let equal = || (0..self.links.len()).filter(|path| self.dscps[*path] == own);
        let chosen = (u128::from(mixed(flow.hash ^ self.seed)) * equal().count() as u128) >> 64;
        equal().nth(usize::try_from(chosen).unwrap_or(0)).unwrap_or(0)
    }

    fn link_of(&mut self, flow: Flow) -> &mut Link<B> {
        let path = self.path_of(flow);
        &mut self.links[path]
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;
    use crate::request::DirectionSettings;

    const FAST: DirectionSettings = DirectionSettings {
        rate_bps: Some(100_000_000),
        delay_ns: 1_000_000,
        jitter_ns: 0,
        reorder: false,
        loss: 0.0,
        duplicate: 0.0,
        queue_bytes: u64::MAX,
        queue_packets: u64::MAX,
        policer: None,
        cross: None,
    };
    const SLOW: DirectionSettings =
        DirectionSettings { rate_bps: Some(10_000_000), delay_ns: 7_000_000, queue_packets: 5, loss: 0.1, ..FAST };

    fn link(settings: DirectionSettings) -> Link<usize> {
        Link::new(settings, fastrand::Rng::with_seed(3))
    }

    fn path_of(dscps: &[Option<u8>], seed: u64, flow: Flow) -> usize {
        let mut paths = Paths::new(dscps.iter().map(|_| link(FAST)).collect(), dscps.to_vec(), seed);
        paths.arrive(0, Packet { bytes: 100, division: None }, flow, 0);
        paths.take(u64::MAX).unwrap().path
    }

    fn all_out(take: &mut impl FnMut() -> Option<(u64, usize)>) -> Vec<(u64, usize)> {
        std::iter::from_fn(take).collect()
    }

    #[test]
    fn flows_are_spread_evenly_and_otherwise_with_another_seed() {
        let path_of = |seed, hash| path_of(&[None; 3], seed, Flow { hash, dscp: 0 });
        let one: Vec<usize> = (0..9_000).map(|flow| path_of(1, mixed(flow))).collect();
        for path in 0..3 {
            let flows = one.iter().filter(|taken| **taken == path).count();
            // 3000 ± 2.576 · √(9000 · ⅓ · ⅔).
            assert!((2_885..=3_115).contains(&flows), "{flows}");
        }
        let same = (0..9_000).filter(|flow| path_of(2, mixed(*flow)) == one[usize::try_from(*flow).unwrap()]).count();
        assert!((2_885..=3_115).contains(&same), "{same}");
    }

    #[test]
    fn flows_take_the_paths_of_their_dscp_and_all_others_those_without() {
        let taken = |dscp| -> HashSet<usize> {
            let flows = (0..200).map(|hash| Flow { hash, dscp });
            flows.map(|flow| path_of(&[None, Some(8), None, Some(46), Some(8)], 7, flow)).collect()
        };
        assert_eq!(taken(46), HashSet::from([3]));
        assert_eq!(taken(8), HashSet::from([1, 4]));
        for other in [0, 1, 63] {
            assert_eq!(taken(other), HashSet::from([0, 2]));
        }
    }

    proptest! {
        /// Each path is a link that nothing but its own flows come to.
        #[test]
        fn paths_are_links_of_their_own(
            arriving in prop::collection::vec((0..2_000_000_u64, 0..20_u64, 20..1500_u32), 1..100),
            seed in any::<u64>(),
        ) {
            let mut paths = Paths::new(vec![link(FAST), link(SLOW)], vec![None; 2], seed);
            let mut alone = [link(FAST), link(SLOW)];
            let mut path_of = std::collections::HashMap::new();
            let mut now = 0;
            for (index, (gap, hash, bytes)) in arriving.iter().enumerate() {
                let flow = Flow { hash: *hash, dscp: 0 };
                now += gap;
                let packet = Packet { bytes: *bytes, division: None };
                paths.arrive(now, packet, flow, index);
                let path = paths.path_of(flow);
                prop_assert_eq!(*path_of.entry(flow).or_insert(path), path);
                alone[path].arrive(now, packet, index);
            }
            let mut found = [Vec::new(), Vec::new()];
            let mut latest = 0;
            while let Some(due) = paths.next_due() {
                prop_assert!(due >= latest);
                latest = due;
                let delivery = paths.take(due).unwrap();
                paths.link(&delivery).handed_over(due, &delivery.arrival);
                found[delivery.path].push((due, delivery.arrival.item.buffer));
            }
            for (path, link) in alone.iter_mut().enumerate() {
                let mut take = || {
                    let arrival = link.take(u64::MAX)?;
                    link.handed_over(arrival.due, &arrival);
                    Some((arrival.due, arrival.item.buffer))
                };
                prop_assert_eq!(&all_out(&mut take), &found[path]);
            }
            let [fast, slow] = alone.map(|mut link| link.report(u64::MAX));
            prop_assert_eq!(paths.report(u64::MAX), vec![fast, slow]);
            let all = fast.packets_in + slow.packets_in;
            prop_assert_eq!(all, arriving.len() as u64);
            let dropped = slow.dropped_queue_packets + slow.dropped_loss_packets;
            prop_assert_eq!(all, fast.packets_out + slow.packets_out + dropped);
        }
    }
}
