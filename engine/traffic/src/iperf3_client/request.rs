//! The request to a server: the settings of a trial as iperf3's parameters. No socket, no clock.

use std::time::Duration;

use iperf3::{
    Params,
    limits::{DATAGRAM_BYTES_MAX, DATAGRAM_BYTES_MIN, STREAMS_MAX, WINDOW_BYTES_MAX, WRITE_BYTES_MAX},
};
use wire::{Iperf3, Role, TcpSettings, UdpSettings};

use crate::{TrialError, limits::within};

/// Settings of a trial that are requested of a server.
pub trait RequestedSettings {
    /// Writes the keys of this kind of test.
    fn write_to(&self, params: &mut Params);
    /// Checks them against what iperf3 takes.
    fn check(&self) -> Result<(), TrialError>;
    /// How long to send, and how much longer for the last bin, in microseconds.
    fn times_us(&self) -> (u64, u64);
    /// Streams in each direction.
    fn flows(&self) -> u32;
    /// Congestion control of whoever sends.
    fn congestion(&self) -> Option<&str>;
}

/// The parameters of a test in these directions, one or two; `omit_s` lies inside the duration, where iperf3 adds it.
pub fn params(settings: &impl RequestedSettings, server: &Iperf3, directions: &[Role]) -> Result<Params, TrialError> {
    settings.check()?;
    if let Some(bytes) = server.window_bytes {
        within("window_bytes of the iperf3 server", bytes, 0, WINDOW_BYTES_MAX.into())?;
    }
    let (duration_us, pad_us) = settings.times_us();
    let whole = Duration::from_micros(duration_us.saturating_add(pad_us)).as_secs_f64().ceil();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number of seconds, saturating")]
    let time_s = (whole as u32).saturating_sub(server.omit_s).max(1);
    let mut params = Params {
        omit: Some(server.omit_s),
        time: Some(time_s),
        num: Some(0),
        blockcount: Some(0),
        parallel: Some(settings.flows()),
        reverse: directions == [Role::Sink],
        bidirectional: directions.len() > 1,
        window: server.window_bytes.and_then(|bytes| u32::try_from(bytes).ok()),
        pacing_timer: Some(1000),
        client_version: Some("3.12".into()),
        ..Params::default()
    };
    settings.write_to(&mut params);
    params.check().map_err(|refusal| TrialError::Settings(format!("iperf3 does not take it: {refusal}")))?;
    Ok(params)
}

impl RequestedSettings for TcpSettings {
    fn write_to(&self, params: &mut Params) {
        params.tcp = true;
        params.len = Some(self.length_bytes);
        params.mss = self.mss_bytes;
        params.nodelay = self.no_delay;
        params.congestion.clone_from(&self.congestion);
        params.bandwidth = self.rate_bps;
        params.fqrate = self.pacing_rate_bps;
        params.tos = self.dscp.map(|dscp| u32::from(dscp) << 2);
    }

    fn check(&self) -> Result<(), TrialError> {
        if self.until.is_some() {
            let text = "found until, expected none: iperf3 agrees on a duration before it begins";
            return Err(TrialError::Settings(text.into()));
        }
        within("flows", self.flows.into(), 1, STREAMS_MAX.into())?;
        within("length_bytes", self.length_bytes.into(), 1, WRITE_BYTES_MAX.into())
    }

    fn times_us(&self) -> (u64, u64) {
        (self.duration_us, self.pad_us)
    }

    fn flows(&self) -> u32 {
        self.flows
    }

    fn congestion(&self) -> Option<&str> {
        self.congestion.as_deref()
    }
}

impl RequestedSettings for UdpSettings {
    fn write_to(&self, params: &mut Params) {
        params.udp = true;
        params.len = Some(self.length_bytes);
        params.bandwidth = Some(self.rate_of_spacing_bps().or(self.rate_bps).unwrap_or(0));
        params.udp_counters_64bit = true;
        params.tos = self.dscp.map(|dscp| u32::from(dscp) << 2);
    }

    fn check(&self) -> Result<(), TrialError> {
        within("flows", self.flows.into(), 1, STREAMS_MAX.into())?;
        within("length_bytes", self.length_bytes.into(), DATAGRAM_BYTES_MIN.into(), DATAGRAM_BYTES_MAX.into())
    }

    fn times_us(&self) -> (u64, u64) {
        (self.duration_us, self.pad_us)
    }

    fn flows(&self) -> u32 {
        self.flows
    }

    fn congestion(&self) -> Option<&str> {
        None
    }
}

trait Spaced {
    fn rate_of_spacing_bps(&self) -> Option<u64>;
}

impl Spaced for UdpSettings {
    /// iperf3 knows rates only.
    fn rate_of_spacing_bps(&self) -> Option<u64> {
        self.spacing_ns.map(|spacing_ns| u64::from(self.length_bytes) * 8_000_000_000 / spacing_ns.max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file;

    #[test]
    fn the_time_is_a_whole_number_of_seconds_with_room_for_the_last_interval() {
        let server = Iperf3 { login: None, window_bytes: None, omit_s: 5, together_with: None, busy_timeout_us: 0 };
        let settings = TcpSettings { duration_us: 30_000_000, pad_us: 106_000, ..file::tests::settings().tcp };
        let params = params(&settings, &server, &[Role::Source]).unwrap();
        assert_eq!((params.time, params.omit), (Some(26), Some(5)), "as docs/guide/iperf3.md says");
    }
}
