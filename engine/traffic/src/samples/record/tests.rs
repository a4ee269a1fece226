use proptest::prelude::*;

use super::*;
use crate::{mptcp::SubflowRow, quic::QuicRow, samples::Sample, udp::DatagramRow};

#[derive(Debug)]
struct Row {
    first: u8,
    port: u16,
    count: Option<u32>,
    many: [Option<i64>; 3],
    pair: Option<[u64; 2]>,
    id: i32,
    kind: Kind,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    One,
    Other,
    Last,
}

code!(Kind { One, Other, Last });
record!(Row {
    first: u8,
    port: u16,
    count: Option<u32>,
    many: [Option<i64>; 3],
    pair: Option<[u64; 2]>,
    id: i32,
    kind: Kind,
});

#[test]
fn fields_follow_each_other_in_the_order_in_which_they_are_named() {
    let (many, pair) = ([Some(-1), None, Some(2)], None);
    let row = Row { first: 1, port: 0x0203, count: Some(4), many, pair, id: -2, kind: Kind::Last };
    let mut record = Vec::new();
    row.put(&mut record);
    let many = [&[1][..], &[0xff; 8], &[0; 9], &[1, 2], &[0; 7]].concat();
    let expected = [&[1, 3, 2, 1, 4, 0, 0, 0][..], &many, &[0; 17], &[0xfe, 0xff, 0xff, 0xff], &[2]].concat();
    assert_eq!(record, expected);
}

#[test]
fn every_kind_of_a_code_is_its_own() {
    assert_kept(&[Kind::One, Kind::Other, Kind::Last]);
}

#[test]
fn what_a_kernel_returned_keeps_its_length() {
    assert_kept(&[0, 1, 104, TCP_INFO_BYTES].map(|length| TcpInfo::from_bytes(&vec![9; length])));
}

#[test]
fn addresses_keep_their_family_and_sockets_have_the_plain_one() {
    let addresses = ["0.0.0.0", "192.0.2.1", "::", "::1", "2001:db8::1", "::ffff:192.0.2.1"];
    assert_kept(&addresses.map(|text| text.parse::<IpAddr>().unwrap()));
    assert_kept(&["192.0.2.1:65535", "[2001:db8::1]:0"].map(|text| text.parse::<SocketAddr>().unwrap()));
    let mut record = Vec::new();
    "[::ffff:192.0.2.1]:7".parse::<SocketAddr>().unwrap().put(&mut record);
    assert_eq!(SocketAddr::take(&mut &record[..]), "192.0.2.1:7".parse().unwrap());
}

proptest! {
    #[test]
    fn what_goes_in_comes_out(
        first: u8, port: u16, count: Option<u32>, many: [Option<i64>; 3], pair: Option<[u64; 2]>, id: i32, kind in 0..3,
    ) {
        let kind = [Kind::One, Kind::Other, Kind::Last][usize::try_from(kind).unwrap()];
        assert_kept(&[Row { first, port, count, many, pair, id, kind }]);
    }
}

#[test]
fn as_many_samples_are_kept_as_plans_are_told() {
    fn kept<R: Record>() -> u64 {
        R::LOG_MAX_BYTES / R::BYTES as u64
    }
    for rows in [kept::<Sample>(), kept::<DatagramRow>(), kept::<QuicRow>(), kept::<SubflowRow>()] {
        assert!(rows > 11_000_000, "_SAMPLES_KEPT in src/flowsweep/schedule/remarks.py: {rows}");
    }
}
