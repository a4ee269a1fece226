//! From the line that was read to settings that cannot be wrong.

use std::{collections::HashSet, fmt::Display, ops::RangeInclusive, path::PathBuf, time::Duration};

use wire::{EmulatedCrossTraffic, EmulatedDevice, EmulatedDirection, EmulatedPolicer, Emulation};

use crate::{
    defaults::{
        BURST_MAX_BYTES, CROSS_PACKET_MIN_BYTES, CROSS_PACKETS_PER_S_MAX, DELAY_MAX, DSCP_MAX, MTU_BYTES, PATHS_MAX,
        PAUSE_US, RATE_BPS, REPORT_INTERVAL_US,
    },
    error::EmulationError,
};

/// A checked [`Emulation`].
#[derive(Clone, Debug)]
pub struct LinkRequest {
    pub devices: [DeviceRequest; 2],
    pub mtu_bytes: u32,
    pub seed: u64,
    pub report_interval: Duration,
    /// One at least, each both ways.
    pub paths: Vec<[DirectionSettings; 2]>,
    /// Of each path.
    pub dscps: Vec<Option<u8>>,
}

#[derive(Clone, Debug)]
pub struct DeviceRequest {
    pub namespace: PathBuf,
    pub name: String,
}

/// A checked [`EmulatedDirection`], times in ns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DirectionSettings {
    pub rate_bps: Option<u64>,
    pub delay_ns: u64,
    pub jitter_ns: u64,
    pub reorder: bool,
    pub loss: f64,
    pub duplicate: f64,
    pub queue_bytes: u64,
    pub queue_packets: u64,
    pub policer: Option<PolicerSettings>,
    pub cross: Option<CrossSettings>,
}

/// A checked [`EmulatedCrossTraffic`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CrossSettings {
    pub rate_bps: u64,
    pub packet_bytes: u32,
    pub pauses: Option<PauseSettings>,
}

/// Checked [`wire::EmulatedPauses`], times in ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PauseSettings {
    pub on_ns: u64,
    pub off_ns: u64,
    pub poisson: bool,
}

/// A checked [`EmulatedPolicer`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PolicerSettings {
    pub rate_bps: u64,
    pub burst_bytes: u64,
}

impl LinkRequest {
    /// Reads and checks a request.
    ///
    /// # Errors
    /// When it is not one: the error names the key, what was found and what is expected.
    pub fn parse(line: &str) -> Result<Self, EmulationError> {
        let mut json = serde_json::Deserializer::from_str(line);
        let emulation: Emulation = serde_path_to_error::deserialize(&mut json).map_err(|error| {
            let path = error.path().to_string();
            let key = if path == "." { "the request".into() } else { path };
            EmulationError::Unreadable { key, source: error.into_inner() }
        })?;
        json.end().map_err(|source| EmulationError::Unreadable { key: "after the request".into(), source })?;
        Self::check(emulation)
    }

    fn check(emulation: Emulation) -> Result<Self, EmulationError> {
        let Emulation { devices, mtu_bytes, seed, report_interval_us, directions, further, dscps } = emulation;
        within("mtu_bytes", mtu_bytes, MTU_BYTES)?;
        within("report_interval_us", report_interval_us, REPORT_INTERVAL_US)?;
        if further.len() >= PATHS_MAX {
            return Err(refuse("further", format!("{} paths", further.len()), format!("at most {}", PATHS_MAX - 1)));
        }
        let mut paths = vec![check_path("directions", &directions, mtu_bytes)?];
        for (index, path) in further.iter().enumerate() {
            paths.push(check_path(&format!("further[{index}]"), path, mtu_bytes)?);
        }
        let distinct: HashSet<_> = devices.iter().map(|device| (&device.namespace, &device.name)).collect();
        if distinct.len() < devices.len() {
            return Err(refuse("devices[1]", "the same device as devices[0]", "another namespace or name"));
        }
        for (index, device) in devices.iter().enumerate() {
            check_device(index, device)?;
        }
        let devices =
            devices.map(|device| DeviceRequest { namespace: PathBuf::from(device.namespace), name: device.name });
        let report_interval = Duration::from_micros(report_interval_us);
        let dscps = check_dscps(dscps, paths.len())?;
        Ok(Self { devices, mtu_bytes, seed, report_interval, paths, dscps })
    }
}

/// One for each of so many paths, and a path for packets of any other.
fn check_dscps(dscps: Vec<Option<u8>>, paths: usize) -> Result<Vec<Option<u8>>, EmulationError> {
    if dscps.is_empty() {
        return Ok(vec![None; paths]);
    }
    if dscps.len() != paths {
        return Err(refuse("dscps", format!("{} paths", dscps.len()), format!("{paths}, or none")));
    }
    if !dscps.contains(&None) {
        return Err(refuse("dscps", "a DSCP for each path", "a path without one, for all other packets"));
    }
    for (index, dscp) in dscps.iter().enumerate() {
        within(&format!("dscps[{index}]"), dscp.unwrap_or(0), 0..=DSCP_MAX)?;
    }
    Ok(dscps)
}

fn check_device(index: usize, device: &EmulatedDevice) -> Result<(), EmulationError> {
    let wrong = |character: char| character == '/' || character == ':' || character == '%';
    let name = &device.name;
    let visible = name.chars().all(|character| character.is_ascii_graphic() && !wrong(character));
    if name.is_empty() || name.len() > 15 || !visible || name == "." || name == ".." {
        let expected = "a device name: 1 to 15 visible ASCII characters without / : %";
        return Err(refuse(&format!("devices[{index}].name"), format!("{name:?}"), expected));
    }
    if device.namespace.is_empty() || device.namespace.contains('\0') {
        let found = format!("{:?}", device.namespace);
        return Err(refuse(&format!("devices[{index}].namespace"), found, "a file such as /run/netns/left"));
    }
    Ok(())
}

fn check_path(
    key: &str,
    directions: &[EmulatedDirection; 2],
    mtu_bytes: u32,
) -> Result<[DirectionSettings; 2], EmulationError> {
    let [first, second] = directions;
    let check = |index, direction| check_direction(&format!("{key}[{index}]"), direction, mtu_bytes);
    Ok([check(0, first)?, check(1, second)?])
}

fn check_direction(
    direction: &str,
    requested: &EmulatedDirection,
    mtu_bytes: u32,
) -> Result<DirectionSettings, EmulationError> {
    let key = |name: &str| format!("{direction}.{name}");
    if let Some(rate) = requested.rate_bps {
        within(&key("rate_bps"), rate, RATE_BPS)?;
    }
    let delay_max_us = u64::try_from(DELAY_MAX.as_micros()).unwrap_or(u64::MAX);
    within(&key("delay_us"), requested.delay_us, 0..=delay_max_us)?;
    if requested.jitter_us > requested.delay_us {
        let expected = format!("at most delay_us, which is {}", requested.delay_us);
        return Err(refuse(&key("jitter_us"), requested.jitter_us, expected));
    }
    for (name, probability) in [("loss", requested.loss), ("duplicate", requested.duplicate)] {
        if !(0.0..=1.0).contains(&probability) {
            return Err(refuse(&key(name), probability, "a probability: 0 to 1"));
        }
    }
    if let Some(bytes) = requested.queue_bytes
        && bytes < u64::from(mtu_bytes)
    {
        let expected = format!("at least mtu_bytes, which is {mtu_bytes}: nothing else would pass");
        return Err(refuse(&key("queue_bytes"), bytes, expected));
    }
    if requested.queue_packets == Some(0) {
        return Err(refuse(&key("queue_packets"), 0, "at least 1: nothing else would pass"));
    }
    let policer = requested.policer.map(|policer| check_policer(&key("policer"), policer, mtu_bytes)).transpose()?;
    let cross =
        requested.cross.map(|cross| check_cross(&key("cross"), cross, requested.rate_bps, mtu_bytes)).transpose()?;
    Ok(DirectionSettings {
        rate_bps: requested.rate_bps,
        delay_ns: requested.delay_us * 1000,
        jitter_ns: requested.jitter_us * 1000,
        reorder: requested.reorder,
        loss: requested.loss,
        duplicate: requested.duplicate,
        queue_bytes: requested.queue_bytes.unwrap_or(u64::MAX),
        queue_packets: requested.queue_packets.unwrap_or(u64::MAX),
        policer,
        cross,
    })
}

fn check_cross(
    key: &str,
    requested: EmulatedCrossTraffic,
    link_rate_bps: Option<u64>,
    mtu_bytes: u32,
) -> Result<CrossSettings, EmulationError> {
    let EmulatedCrossTraffic { rate_bps, packet_bytes, pauses } = requested;
    if link_rate_bps.is_none() {
        return Err(refuse(key, "a link without rate_bps", "a rate: nothing waits for an unlimited link"));
    }
    within(&format!("{key}.rate_bps"), rate_bps, RATE_BPS)?;
    within(&format!("{key}.packet_bytes"), packet_bytes, CROSS_PACKET_MIN_BYTES..=mtu_bytes)?;
    let packets_per_s = rate_bps / (8 * u64::from(packet_bytes));
    if packets_per_s > CROSS_PACKETS_PER_S_MAX {
        let found = format!("{packets_per_s} packets a second");
        return Err(refuse(key, found, format!("at most {CROSS_PACKETS_PER_S_MAX}")));
    }
    if let Some(pauses) = pauses {
        within(&format!("{key}.pauses.on_us"), pauses.on_us, PAUSE_US)?;
        within(&format!("{key}.pauses.off_us"), pauses.off_us, PAUSE_US)?;
    }
    let pauses = pauses.map(|pauses| PauseSettings {
        on_ns: pauses.on_us * 1000,
        off_ns: pauses.off_us * 1000,
        poisson: pauses.poisson,
    });
    Ok(CrossSettings { rate_bps, packet_bytes, pauses })
}

fn check_policer(key: &str, requested: EmulatedPolicer, mtu_bytes: u32) -> Result<PolicerSettings, EmulationError> {
    let EmulatedPolicer { rate_bps, burst_bytes } = requested;
    within(&format!("{key}.rate_bps"), rate_bps, RATE_BPS)?;
    if burst_bytes < u64::from(mtu_bytes) || burst_bytes > BURST_MAX_BYTES {
        let expected = format!("mtu_bytes, which is {mtu_bytes}, to {BURST_MAX_BYTES}: no full packet would pass less");
        return Err(refuse(&format!("{key}.burst_bytes"), burst_bytes, expected));
    }
    Ok(PolicerSettings { rate_bps, burst_bytes })
}

fn within<T: PartialOrd + Display>(key: &str, found: T, range: RangeInclusive<T>) -> Result<(), EmulationError> {
    if range.contains(&found) {
        return Ok(());
    }
    Err(refuse(key, found, format!("{} to {}", range.start(), range.end())))
}

fn refuse(key: &str, found: impl Display, expected: impl Display) -> EmulationError {
    EmulationError::Request { key: key.into(), found: found.to_string(), expected: expected.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"{"devices":[{"namespace":"/run/netns/a","name":"p"},{"namespace":"/run/netns/b","name":"p"}],
        "mtu_bytes":1500,"seed":42,"report_interval_us":100000,"directions":[
        {"rate_bps":100000000,"delay_us":87500,"jitter_us":0,"reorder":false,"loss":0.0,"duplicate":0.25,"queue_bytes":1100000,
         "queue_packets":null,"cross":{"rate_bps":30000000,"packet_bytes":1200,
         "pauses":{"on_us":500000,"off_us":250000,"poisson":true}}},
        {"rate_bps":null,"delay_us":0,"jitter_us":0,"reorder":false,"loss":0,"duplicate":0,"queue_bytes":null,"queue_packets":9,
         "policer":{"rate_bps":20000000,"burst_bytes":64000}}]}"#;

    #[test]
    fn a_request_is_read() {
        let request = LinkRequest::parse(GOOD).unwrap();
        assert_eq!(request.paths[0][0].delay_ns, 87_500_000);
        assert_eq!((request.paths[0][0].loss, request.paths[0][0].duplicate), (0.0, 0.25));
        assert_eq!(request.paths[0][0].queue_packets, u64::MAX);
        assert_eq!(request.paths[0][0].policer, None);
        let pauses = PauseSettings { on_ns: 500_000_000, off_ns: 250_000_000, poisson: true };
        let cross = CrossSettings { rate_bps: 30_000_000, packet_bytes: 1200, pauses: Some(pauses) };
        assert_eq!((request.paths[0][0].cross, request.paths[0][1].cross), (Some(cross), None));
        assert_eq!(request.paths[0][1].rate_bps, None);
        let policer = PolicerSettings { rate_bps: 20_000_000, burst_bytes: 64_000 };
        assert_eq!(request.paths[0][1].policer, Some(policer));
        assert_eq!(request.paths[0][1].queue_packets, 9);
    }

    #[test]
    fn paths_have_the_dscps_that_are_asked_for_or_none() {
        let of = |dscps: &[Option<u8>]| check_dscps(dscps.to_vec(), 2).map_err(|error| error.to_string());
        assert_eq!(of(&[]), Ok(vec![None, None]));
        assert_eq!(of(&[None, Some(63)]), Ok(vec![None, Some(63)]));
        let refused = of(&[None, Some(64)]).unwrap_err();
        assert!(refused.contains("dscps[1]") && refused.contains("0 to 63"), "{refused}");
    }

    #[test]
    fn what_is_wrong_is_named_with_what_is_there_and_what_should_be() {
        for (right, wrong, parts) in [
            ("\"loss\":0.0", "\"loss\":1.5", &["directions[0].loss", "1.5", "0 to 1"][..]),
            ("\"duplicate\":0.25", "\"duplicate\":-0.1", &["directions[0].duplicate", "-0.1", "0 to 1"]),
            ("\"loss\":0.0", "\"loss\":\"no\"", &["directions[0].loss", "\"no\"", "f64"]),
            (
                "\"jitter_us\":0",
                "\"jitter_us\":90000",
                &["directions[0].jitter_us", "90000", "delay_us, which is 87500"],
            ),
            ("1100000", "1499", &["directions[0].queue_bytes", "1499", "mtu_bytes"]),
            ("\"queue_packets\":9", "\"queue_packets\":0", &["directions[1].queue_packets", "0", "at least 1"]),
            (":20000000,", ":999,", &["directions[1].policer.rate_bps", "999", "1000 to"]),
            ("64000", "1499", &["directions[1].policer.burst_bytes", "1499", "mtu_bytes, which is 1500"]),
            ("\"burst_bytes\":64000", "\"burst\":64000", &["directions[1].policer", "burst", "`burst_bytes`"]),
            (":30000000,", ":999,", &["directions[0].cross.rate_bps", "999", "1000 to"]),
            (":1200,", ":1501,", &["directions[0].cross.packet_bytes", "1501", "20 to 1500"]),
            (
                "30000000,\"packet_bytes\":1200",
                "300000000,\"packet_bytes\":20",
                &["directions[0].cross", "1875000 packets a second", "at most 1000000"],
            ),
            ("500000,\"off", "999,\"off", &["directions[0].cross.pauses.on_us", "999", "1000 to"]),
            (":250000,", ":3600000001,", &["directions[0].cross.pauses.off_us", "3600000001"]),
            (":100000000", ":null", &["directions[0].cross", "without rate_bps", "nothing waits"]),
            ("100000000", "999", &["directions[0].rate_bps", "999", "1000 to"]),
            ("87500", "60000001", &["directions[0].delay_us", "60000001", "0 to 60000000"]),
            ("87500", "-1", &["directions[0].delay_us", "-1", "u64"]),
            ("1500", "67", &["mtu_bytes", "67", "68 to 65535"]),
            (":100000,", ":10,", &["report_interval_us", "10", "1000 to"]),
            ("/b", "/a", &["devices[1]", "the same device"]),
            ("\"p\"}]", "\"sixteen-letters-\"}]", &["devices[1].name", "sixteen", "1 to 15"]),
            ("/run/netns/a", "", &["devices[0].namespace", "\"\"", "/run/netns/left"]),
            ("\"seed\"", "\"sead\"", &["sead", "expected one of", "`seed`"]),
            ("}]}", "}],\"dscps\":[null,8]}", &["dscps", "2 paths", "1, or none"]),
            ("}]}", "}],\"dscps\":[8]}", &["dscps", "a DSCP for each path", "a path without one"]),
            (GOOD, "", &["the request", "EOF"]),
            ("}]}", "}]} x", &["after the request", "trailing characters"]),
        ] {
            let message = LinkRequest::parse(&GOOD.replacen(right, wrong, 1)).unwrap_err().to_string();
            for part in parts {
                assert!(message.contains(part), "{message} has no {part}");
            }
        }
    }
}
