//! Bytes by day, whatever becomes of those who write them.

use std::{
    fs::{self, OpenOptions},
    io::Write,
    path::PathBuf,
};

use proptest::prelude::*;
use wire::{TcpSettings, Test};

use crate::support::{Point, admit, tcp, to_peer};

const RULE: &str = "[[rule]]\nname = \"all\"\npeers = [\"0.0.0.0/0\"]\nbytes_per_day = \"1GB\"";

fn ledger(point: &Point) -> PathBuf {
    let names = fs::read_dir(point.state()).unwrap().map(|entry| entry.unwrap().path());
    names.into_iter().find(|path| path.file_name().unwrap().to_string_lossy().starts_with("bytes-")).unwrap()
}

fn megabyte() -> wire::Prepare {
    // 3 s at this rate, and a block.
    let settings = tcp();
    let rest = 1_000_000 - u64::from(settings.length_bytes);
    to_peer(Test::Tcp(TcpSettings { rate_bps: Some(8 * rest / 3), ..settings }))
}

fn left(point: &Point) -> u64 {
    let limits = limits::Limits::read(&point.path("limits.toml")).unwrap();
    limits::Availability::of(&limits).unwrap().rules[0].bytes_left.unwrap()
}

#[test]
fn what_was_reserved_counts_until_what_was_carried_is_known() {
    let point = Point::new("", RULE);
    let gate = point.session("alice", None);
    let held = admit(&gate, &megabyte()).ok().unwrap();
    assert_eq!(left(&point), 999_000_000);
    held.finish("ok", None, Some(400_000));
    assert_eq!(left(&point), 999_600_000);
    drop(admit(&gate, &megabyte()).ok().unwrap());
    assert_eq!(left(&point), 998_600_000, "nobody said how much it carried");
}

#[test]
fn half_a_line_is_of_a_process_that_began_nothing() {
    let point = Point::new("", RULE);
    let gate = point.session("alice", None);
    admit(&gate, &megabyte()).ok().unwrap().finish("ok", None, Some(1));
    OpenOptions::new().append(true).open(ledger(&point)).unwrap().write_all(b"{\"end\":\"x\",\"ru").unwrap();
    assert_eq!(left(&point), 999_999_999);
    admit(&gate, &megabyte()).ok().unwrap().finish("ok", None, Some(1));
    assert_eq!(left(&point), 999_999_998);
}

#[test]
fn many_short_trials_do_not_make_it_long() {
    let point = Point::new("", RULE);
    let gate = point.session("alice", None);
    let kept = admit(&gate, &megabyte()).ok().unwrap();
    for _ in 0..600 {
        admit(&gate, &to_peer(Test::Tcp(tcp()))).ok().unwrap().finish("ok", None, Some(1));
    }
    let text = fs::read_to_string(ledger(&point)).unwrap();
    assert!(text.lines().count() < 510, "{}", text.lines().count());
    assert_eq!(left(&point), 1_000_000_000 - 1_000_000 - 600);
    kept.finish("ok", None, Some(3));
    assert_eq!(left(&point), 1_000_000_000 - 603);
}

#[test]
fn a_damaged_ledger_refuses_everything() {
    let point = Point::new("", RULE);
    let gate = point.session("alice", None);
    admit(&gate, &megabyte()).ok().unwrap().finish("ok", None, Some(1));
    let whole = fs::read(ledger(&point)).unwrap();
    let damaged = [
        b"no JSON\n".to_vec(),
        b"{\"end\":\"x\",\"rules\":[],\"bytes\":-1,\"over\":true}\n".to_vec(),
        b"\xff\xfe\n".to_vec(),
        vec![b'['; 200_000].into_iter().chain([b'\n']).collect(),
    ];
    for line in damaged {
        fs::write(ledger(&point), [&whole[..], &line[..], &whole[..]].concat()).unwrap();
        let refusal = admit(&gate, &megabyte()).err().unwrap();
        assert_eq!(refusal.kind(), "point_broken");
        assert!(refusal.to_string().contains("how much was carried today is not known"), "{refusal}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn never_more_than_a_days_bytes_are_promised(carried in proptest::collection::vec(proptest::option::of(0..3_000_000_u64), 1..40)) {
        let point = Point::new("", &RULE.replace("1GB", "10MB"));
        let gate = point.session("alice", None);
        let mut used = 0;
        for bytes in carried {
            match admit(&gate, &megabyte()) {
                Ok(held) => {
                    prop_assert!(used + 1_000_000 <= 10_000_000);
                    held.finish("ok", None, bytes);
                    used += bytes.unwrap_or(1_000_000);
                }
                Err(refusal) => {
                    prop_assert!(used + 1_000_000 > 10_000_000);
                    prop_assert!(refusal.to_string().contains("bytes_per_day"));
                }
            }
        }
        prop_assert_eq!(left(&point), 10_000_000_u64.saturating_sub(used));
    }
}
