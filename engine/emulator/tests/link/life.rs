//! How a link begins and ends.

use std::{
    io::{Write, pipe},
    os::fd::AsFd,
    time::Duration,
};

use wire::{EmulatedDirection, EmulationEvent};

use crate::{
    lab::{Lab, OPEN},
    traffic::{next_number, numbered},
};

#[test]
fn it_ends_with_its_devices_when_the_input_ends_and_tells_counters_last() {
    let Some(mut lab) = Lab::new(&OPEN) else { return };
    assert!(lab.has_device(0) && lab.has_device(1));
    let last = lab.finish();
    assert!(matches!(last, EmulationEvent::Counters(_)), "{last:?}");
    assert!(!lab.has_device(0) && !lab.has_device(1));
}

#[test]
fn a_device_that_is_deleted_ends_it() {
    for end in [0, 1] {
        let Some(lab) = Lab::new(&OPEN) else { return };
        lab.ip(end, "link delete path0");
        let message = lab.failure();
        println!("{message}");
        assert!(message.contains("path0") && message.contains("was deleted"), "{message}");
    }
}

#[test]
fn a_namespace_that_is_deleted_ends_it() {
    let Some(mut lab) = Lab::new(&OPEN) else { return };
    lab.delete_namespace(1);
    let message = lab.failure();
    println!("{message}");
    assert!(message.starts_with("namespace /run/netns/") && message.ends_with("is gone"), "{message}");
    lab.finish();
    assert!(!lab.has_device(0));
}

#[test]
fn a_failure_that_nobody_reads_holds_nothing_up() {
    let (input, _) = pipe().unwrap();
    let (_unread, mut output) = pipe().unwrap();
    rustix::pipe::fcntl_setpipe_size(&output, 4096).unwrap();
    output.write_all(&[b'\n'; 4096]).unwrap();
    assert!(emulator::emulate("no request", input.as_fd(), output).is_err());
}

#[test]
fn packets_are_lost_while_a_device_is_down_and_flow_again_afterwards() {
    let Some(lab) = Lab::new(&EmulatedDirection { delay_us: 1000, ..OPEN }) else { return };
    let (sender, receiver) = lab.udp(false);
    let arrives = |number| {
        sender.send(&numbered(number, 1, 100)).unwrap();
        next_number(&receiver, Duration::from_millis(300))
    };
    assert_eq!(arrives(1), Some(1));
    lab.ip(1, "link set path0 down");
    assert_eq!(arrives(2), None);
    lab.ip(1, "link set path0 up");
    assert_eq!(arrives(3), Some(3));
    assert_eq!(lab.counters().packets_out, 3);
}
