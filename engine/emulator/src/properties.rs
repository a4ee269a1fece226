//! What must hold for a link whatever comes and goes, in virtual time, against a plain model of it.

use fastrand::Rng;
use proptest::prelude::*;

use crate::{
    link::Link,
    packet::{Packet, Super, Transport},
    policer::Policer,
    request::{CrossSettings, DirectionSettings, PolicerSettings},
};

/// What arrives at the link: when, and which packet.
type Arriving = Vec<(u64, Packet)>;
/// One IP packet: which arrival, which segment of it.
type Segment = (usize, u32);

const PLAIN: DirectionSettings = DirectionSettings {
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

fn super_packet(payload_bytes: u32, segment_payload_bytes: u16) -> Packet {
    let division = Super { transport: Transport::Tcp, transport_start: 20, header_bytes: 52, segment_payload_bytes };
    Packet { bytes: 52 + payload_bytes, division: Some(division) }
}

fn any_packet() -> impl Strategy<Value = Packet> {
    let single = (20..1500_u32).prop_map(|bytes| Packet { bytes, division: None });
    let many = (1..=1448_u16, 2..40_u32, 0..1448_u32);
    let many =
        many.prop_map(|(each, segments, less)| super_packet(u32::from(each) * segments - less % u32::from(each), each));
    prop_oneof![single, many]
}

fn any_arriving() -> impl Strategy<Value = Arriving> {
    let gap = prop_oneof![Just(0), 0..1_000_000_u64, 0..20_000_000_u64];
    prop::collection::vec((gap, any_packet()), 1..60).prop_map(|packets| {
        let mut now = 0;
        let at = |gap| {
            now += gap;
            now
        };
        let (gaps, packets): (Vec<u64>, Vec<Packet>) = packets.into_iter().unzip();
        gaps.into_iter().map(at).zip(packets).collect()
    })
}

fn any_settings() -> impl Strategy<Value = DirectionSettings> {
    let rate = prop::option::weighted(0.9, 100_000..20_000_000_000_u64);
    let limit = |range| prop_oneof![Just(u64::MAX), range];
    let times = (0..5_000_000_u64, 0.0..=1.0_f64, any::<bool>());
    let chance = || prop_oneof![Just(0.0), 0.0..0.3_f64];
    let policer = (100_000..1_000_000_000_u64, 1500..200_000_u64)
        .prop_map(|(rate_bps, burst_bytes)| PolicerSettings { rate_bps, burst_bytes });
    let policer = prop::option::weighted(0.3, policer);
    let queue = (limit(1500..200_000_u64), limit(1..100_u64));
    (rate, times, (chance(), chance()), queue, policer).prop_map(
        |(rate_bps, (delay_ns, jitter, reorder), (loss, duplicate), (queue_bytes, queue_packets), policer)| {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                clippy::cast_precision_loss,
                reason = "test"
            )]
            let jitter_ns = (delay_ns as f64 * jitter) as u64;
            DirectionSettings {
                rate_bps,
                delay_ns,
                jitter_ns,
                reorder,
                loss,
                duplicate,
                queue_bytes,
                queue_packets,
                policer,
                cross: None,
            }
        },
    )
}

/// All that comes out, with the time it is due; a packet that is duplicated is there twice.
fn carry(link: &mut Link<usize>, arriving: &Arriving) -> Vec<(u64, Segment)> {
    for (index, (now, packet)) in arriving.iter().enumerate() {
        let held = link.arrive(*now, *packet, index);
        assert!(held <= 2 * packet.segments());
    }
    let mut out = Vec::new();
    while let Some(due) = link.next_due() {
        let arrival = link.take(due).unwrap();
        assert!(due == 0 || arrival.due == due);
        link.handed_over(due, &arrival);
        out.extend(arrival.item.segments.clone().map(|segment| (due, (arrival.item.buffer, segment))));
    }
    assert_eq!(link.take(u64::MAX), None);
    out
}

/// The same without loss and jitter, one IP packet after the other, in fractions: what gets through and when it is
/// out, in ns × bit/s.
fn model(settings: &DirectionSettings, arriving: &Arriving) -> Vec<(u128, Segment)> {
    let rate = u128::from(settings.rate_bps.unwrap());
    let mut policer = settings.policer.map(Policer::new);
    let mut out: Vec<(u128, Segment, u64)> = Vec::new();
    for (index, (now, packet)) in arriving.iter().enumerate() {
        let (at, now) = (*now, u128::from(*now) * rate);
        for segment in 0..packet.segments() {
            let bytes = packet.segment_bytes(segment);
            if policer.as_mut().is_some_and(|policer| !policer.passes(at, bytes)) {
                continue;
            }
            let bytes = u64::from(bytes);
            // Departures are whole ns, rounded down.
            let waiting: Vec<u64> = out
                .iter()
                .filter(|(departure, ..)| departure / rate * rate > now)
                .map(|(_, _, bytes)| *bytes)
                .collect();
            let full = waiting.iter().sum::<u64>() + bytes > settings.queue_bytes;
            if full || waiting.len() as u64 >= settings.queue_packets {
                continue;
            }
            let free = out.last().map_or(0, |(departure, ..)| *departure);
            let free = if now / rate > free / rate { now } else { free };
            out.push((free + u128::from(bytes) * 8_000_000_000, (index, segment), bytes));
        }
    }
    out.into_iter().map(|(departure, segment, _)| (departure, segment)).collect()
}

proptest! {
    #[test]
    fn what_goes_in_comes_out_or_is_counted(settings in any_settings(), arriving in any_arriving()) {
        let mut link = Link::new(settings, Rng::with_seed(1));
        let out = carry(&mut link, &arriving);
        let report = link.report(u64::MAX);
        let offered: u64 = arriving.iter().map(|(_, packet)| u64::from(packet.segments())).sum();
        prop_assert_eq!(report.packets_in, offered);
        prop_assert_eq!(report.packets_out, out.len() as u64);
        let dropped =
            report.dropped_policer_packets + report.dropped_queue_packets + report.dropped_loss_packets;
        prop_assert_eq!(report.packets_in + report.duplicated_packets, report.packets_out + dropped);
        let bytes = |(_, (index, segment)): &(u64, Segment)| u64::from(arriving[*index].1.segment_bytes(*segment));
        prop_assert_eq!(report.bytes_out, out.iter().map(bytes).sum::<u64>());
        prop_assert_eq!((report.queue_bytes, report.queue_packets, report.late_packets), (0, 0, 0));
        let mut order = out.iter().map(|(_, segment)| *segment).collect::<Vec<_>>();
        if !settings.reorder {
            prop_assert!(order.is_sorted());
            prop_assert_eq!(report.reordered_packets, 0);
        }
        order.sort_unstable();
        order.dedup();
        prop_assert_eq!(order.len() as u64 + report.duplicated_packets, out.len() as u64);
        prop_assert!(report.queue_max_bytes <= settings.queue_bytes);
    }

    #[test]
    fn queue_and_rate_are_those_of_single_packets(settings in any_settings(), arriving in any_arriving()) {
        prop_assume!(settings.rate_bps.is_some());
        let settings = DirectionSettings { loss: 0.0, duplicate: 0.0, jitter_ns: 0, ..settings };
        let rate = u128::from(settings.rate_bps.unwrap());
        let expected = model(&settings, &arriving);
        let out = carry(&mut Link::new(settings, Rng::with_seed(1)), &arriving);
        prop_assert_eq!(out.len(), expected.len());
        for ((due, segment), (departure, model)) in out.into_iter().zip(expected) {
            prop_assert_eq!(segment, model);
            // A piece comes when its last packet is out, and is short.
            let exact = u64::try_from(departure / rate).unwrap() + settings.delay_ns;
            prop_assert!((exact..=exact + 200_000).contains(&due), "{due} for {exact}");
        }
    }
}

proptest! {
    /// Cross traffic takes rate and queue as if a host had sent it, and is not handed over.
    #[test]
    fn cross_traffic_is_like_packets_of_a_host(
        settings in any_settings(),
        arriving in any_arriving(),
        (cross_bps, packet_bytes) in (1_000_000..2_000_000_000_u64, 20..1500_u32),
    ) {
        prop_assume!(settings.rate_bps.is_some());
        let settings = DirectionSettings { loss: 0.0, duplicate: 0.0, jitter_ns: 0, policer: None, ..settings };
        let last = arriving.last().unwrap().0;
        let at = |number: u64| u128::from(number) * u128::from(packet_bytes) * 8_000_000_000 / u128::from(cross_bps);
        let cross: Arriving = (0..)
            .map_while(|number| u64::try_from(at(number)).ok().filter(|at| *at <= last))
            .map(|at| (at, Packet { bytes: packet_bytes, division: None }))
            .collect();
        prop_assume!(cross.len() < 5_000);
        let mut all: Vec<_> = cross.iter().map(|one| (one, None)).collect();
        all.extend(arriving.iter().enumerate().map(|(index, one)| (one, Some(index))));
        all.sort_by_key(|((at, _), own)| (*at, own.is_some()));
        let merged: Arriving = all.iter().map(|(one, _)| **one).collect();
        let mut hosts = Link::new(settings, Rng::with_seed(1));
        let expected: Vec<_> = carry(&mut hosts, &merged)
            .into_iter()
            .filter_map(|(due, (index, segment))| all[index].1.map(|own| (due, (own, segment))))
            .collect();
        let others = CrossSettings { rate_bps: cross_bps, packet_bytes, pauses: None };
        let mut link = Link::new(DirectionSettings { cross: Some(others), ..settings }, Rng::with_seed(1));
        prop_assert_eq!(carry(&mut link, &arriving), expected);
        let (found, hosts) = (link.report(last), hosts.report(last));
        prop_assert_eq!(found.cross_packets_in, cross.len() as u64);
        prop_assert_eq!(found.cross_bytes_in, cross.len() as u64 * u64::from(packet_bytes));
        prop_assert_eq!(found.dropped_queue_packets + found.cross_dropped_packets, hosts.dropped_queue_packets);
        prop_assert_eq!((found.queue_bytes, found.queue_max_bytes), (hosts.queue_bytes, hosts.queue_max_bytes));
        prop_assert_eq!(found.packets_in + found.cross_packets_in, hosts.packets_in);
    }
}

#[test]
fn a_super_packet_that_does_not_fit_is_split_and_its_short_end_may_still_fit() {
    let queue_bytes = 4 * 1500 + 200;
    let mut link = Link::new(DirectionSettings { queue_bytes, ..PLAIN }, Rng::with_seed(1));
    let out = carry(&mut link, &vec![(0, super_packet(10 * 1448 + 100, 1448))]);
    let segments: Vec<u32> = out.iter().map(|(_, (_, segment))| *segment).collect();
    assert_eq!(segments, [0, 1, 2, 3, 10]);
    assert_eq!(link.report(0).dropped_queue_packets, 6);
}

#[test]
fn a_policer_splits_a_super_packet_and_has_nothing_wait() {
    let policer = Some(PolicerSettings { rate_bps: 10_000_000, burst_bytes: 5 * 1500 });
    let mut link = Link::new(DirectionSettings { rate_bps: None, policer, ..PLAIN }, Rng::with_seed(1));
    // Seven packets at once, of which the bucket has five; 1.2 ms later tokens for one more have come.
    let out = carry(&mut link, &vec![(0, super_packet(7 * 1448, 1448)), (1_200_000, super_packet(2 * 1448, 1448))]);
    let expected = [(0, 0), (0, 1), (0, 2), (0, 3), (0, 4), (1, 0)].map(|segment: Segment| {
        let sent = if segment.0 == 0 { 0 } else { 1_200_000 };
        (sent + PLAIN.delay_ns, segment)
    });
    assert_eq!(out, expected);
    let report = link.report(0);
    assert_eq!((report.dropped_policer_packets, report.dropped_queue_packets, report.queue_max_bytes), (3, 0, 0));
}

#[test]
fn what_the_policer_drops_takes_neither_rate_nor_queue() {
    let policer = Some(PolicerSettings { rate_bps: 1_000_000, burst_bytes: 1500 });
    let settings = DirectionSettings { queue_packets: 1, policer, ..PLAIN };
    let single = Packet { bytes: 1500, division: None };
    let mut link = Link::new(settings, Rng::with_seed(1));
    let out = carry(&mut link, &vec![(0, single), (1, single), (12_000_000, single)]);
    assert_eq!(out.iter().map(|(due, _)| *due).collect::<Vec<_>>(), [1_120_000, 13_120_000]);
    let report = link.report(0);
    assert_eq!((report.dropped_policer_packets, report.dropped_queue_packets), (1, 0));
}

#[test]
fn the_packet_in_transmission_takes_room_until_it_is_out() {
    let single = Packet { bytes: 1500, division: None };
    // 1500 bytes take 120 µs.
    for (second, delivered) in [(119_999, 1), (120_000, 2)] {
        let mut link = Link::new(DirectionSettings { queue_packets: 1, ..PLAIN }, Rng::with_seed(1));
        assert_eq!(carry(&mut link, &vec![(0, single), (second, single)]).len(), delivered, "{second}");
    }
}

#[test]
fn packets_are_whole_where_transmission_is_short() {
    for (rate_bps, pieces) in [
        (Some(50_000_000), 40),
        (Some(100_000_000), 20),
        (Some(1_000_000_000), 3),
        (Some(10_000_000_000), 1),
        (None, 1),
    ] {
        let mut link = Link::new(DirectionSettings { rate_bps, ..PLAIN }, Rng::with_seed(1));
        assert_eq!(link.arrive(0, super_packet(40 * 1448, 1448), 0), pieces, "{rate_bps:?}");
    }
}

#[test]
fn lost_segments_are_cut_out_of_the_middle() {
    let settings = DirectionSettings { rate_bps: None, loss: 0.2, ..PLAIN };
    let mut link = Link::new(settings, Rng::with_seed(5));
    let out = carry(&mut link, &vec![(0, super_packet(40 * 1448, 1448))]);
    let report = link.report(0);
    assert_eq!(report.packets_out + report.dropped_loss_packets, 40);
    assert!(report.dropped_loss_packets > 2, "{report:?}");
    assert!(out.iter().map(|(_, (_, segment))| segment).is_sorted());
}

#[test]
fn a_duplicate_follows_its_packet_at_once_and_is_never_reordered() {
    for (reorder, jitter_ns) in [(false, 0), (false, 500_000), (true, 500_000)] {
        let settings =
            DirectionSettings { rate_bps: Some(20_000_000_000), duplicate: 0.2, reorder, jitter_ns, ..PLAIN };
        let mut link = Link::new(settings, Rng::with_seed(5));
        let out = carry(&mut link, &vec![(0, super_packet(40 * 1448, 1448))]);
        let twice = out.windows(2).filter(|pair| pair[0] == pair[1]).count() as u64;
        let report = link.report(0);
        assert_eq!((twice, report.packets_out), (report.duplicated_packets, 40 + report.duplicated_packets));
        assert!((2..20).contains(&twice), "{report:?}");
        let mut order: Vec<Segment> = out.into_iter().map(|(_, segment)| segment).collect();
        order.dedup();
        let overtaken = (1..order.len()).filter(|at| order[..*at].iter().max() > order.get(*at)).count() as u64;
        assert_eq!(report.reordered_packets, overtaken);
        assert_eq!(overtaken > 0, reorder);
    }
}

#[test]
fn a_seed_gives_the_same_losses_and_delays_with_and_without_duplicates() {
    let arriving: Arriving = (0..500).map(|index| (index * 10_000, Packet { bytes: 100, division: None })).collect();
    let settings = DirectionSettings { loss: 0.1, jitter_ns: 500_000, reorder: true, ..PLAIN };
    let plain = carry(&mut Link::new(settings, Rng::with_seed(5)), &arriving);
    let mut doubled =
        carry(&mut Link::new(DirectionSettings { duplicate: 0.3, ..settings }, Rng::with_seed(5)), &arriving);
    assert!(doubled.len() > plain.len() + 50);
    doubled.dedup();
    assert_eq!(doubled, plain);
}

#[test]
fn jitter_is_even_between_its_ends_and_reorders_only_if_it_may() {
    let single = Packet { bytes: 100, division: None };
    let arriving: Arriving = (0..20_000).map(|index| (index * 10_000, single)).collect();
    let settings = DirectionSettings { rate_bps: None, jitter_ns: 500_000, reorder: true, ..PLAIN };
    let mut link = Link::new(settings, Rng::with_seed(5));
    let delays: Vec<u64> = carry(&mut link, &arriving).into_iter().map(|(due, (at, _))| due - arriving[at].0).collect();
    let quarter = delays.iter().filter(|delay| **delay < 750_000).count();
    assert!(delays.iter().all(|delay| (500_000..=1_500_000).contains(delay)));
    assert!((4_800..5_200).contains(&quarter), "{quarter}");
    assert!(link.report(0).reordered_packets > 10_000);
}

#[test]
fn late_is_more_than_a_millisecond_after_due() {
    let mut link = Link::new(DirectionSettings { rate_bps: None, ..PLAIN }, Rng::with_seed(1));
    for late_ns in [1_000_000, 1_000_001] {
        link.arrive(0, Packet { bytes: 100, division: None }, 0);
        let arrival = link.take(1_000_000).unwrap();
        link.handed_over(1_000_000 + late_ns, &arrival);
    }
    let report = link.report(0);
    assert_eq!((report.late_packets, report.late_max_us), (1, 1000));
    assert_eq!(link.report(0).late_max_us, 0);
}
