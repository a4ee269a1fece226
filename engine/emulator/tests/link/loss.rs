//! Random loss: independent of what the sender bundles, as much as asked for, and the same for a seed.

use std::{thread, time::Duration};

use wire::EmulatedDirection;

use crate::{
    lab::{Lab, OPEN},
    traffic::{float, go_first, next_number, udp_flood},
};

#[test]
fn as_many_packets_are_lost_as_asked_for() {
    for (loss, seconds) in [(0.0001, 4), (0.001, 2), (0.01, 1)] {
        let Some(lab) = Lab::new(&EmulatedDirection { loss, ..OPEN }) else { return };
        let (sender, receiver) = lab.udp(false);
        let reading = thread::spawn(move || {
            go_first();
            let mut arrived = 0_u64;
            while next_number(&receiver, Duration::from_millis(500)).is_some() {
                arrived += 1;
            }
            arrived
        });
        let sent = udp_flood(&sender, 200, 100_000.0, Duration::from_secs(seconds));
        let arrived = reading.join().unwrap();
        let counters = lab.counters();
        let expected = float(sent) * loss;
        // The 99 % interval of a binomial count, by its normal approximation.
        let half_width = 2.576 * (expected * (1.0 - loss)).sqrt();
        let lost = counters.dropped_loss_packets;
        println!("loss {loss}: {lost} of {sent} lost, {expected:.0} ± {half_width:.0} expected, {arrived} arrived");
        assert!((float(lost) - expected).abs() <= half_width, "{counters:?}");
        assert_eq!(counters.packets_in, sent);
        assert_eq!(counters.packets_out, sent - lost);
        assert!(arrived <= sent - lost);
    }
}
