use std::{net::IpAddr, sync::Arc, time::Duration};

use iperf3::{ErrorCode, Params, Refusal, auth::Authenticator};
use serving::Network;

use crate::{
    Admission, Deadlines,
    defaults::{self, DATAGRAM_RATE_WINDOW, WRITE_BYTES},
};

/// The configuration of a server.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where to listen; nothing: on all addresses of both families.
    pub bind: Option<IpAddr>,
    /// 0: any port that is free.
    pub port: u16,
    /// How many at once.
    pub admission: Admission,
    /// What may be requested.
    pub limits: Limits,
    /// Without progress of a direction: from a client that is to send, to one that is to read.
    pub no_data_timeout: Duration,
    /// How long it waits for everything else.
    pub deadlines: Deadlines,
    /// Between two rows of the log.
    pub interval: Duration,
    /// Who may test; nothing: everybody.
    pub authenticator: Option<Arc<Authenticator>>,
    /// A client that wants the server's output gets it as JSON.
    pub json_output: bool,
}

/// What a client may request.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Longest test with its omitted beginning, in seconds; nothing: as long as iperf3 allows, and
    /// [`defaults::DURATION_MAX`] where the client says no time.
    pub duration_max_s: Option<u32>,
    /// Rate of all streams of a test, in bit/s, by what they carry; nothing: none.
    pub rate_max_bps: Option<u64>,
    /// Most streams in each direction.
    pub flows_max: u32,
    /// Whose hosts may test; none: everybody's.
    pub networks: Vec<Network>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            bind: None,
            port: defaults::PORT,
            admission: Admission::shared(defaults::TESTS_MAX, defaults::QUEUE_MAX),
            limits: Limits::default(),
            no_data_timeout: defaults::NO_DATA_TIMEOUT,
            deadlines: Deadlines::default(),
            interval: defaults::INTERVAL,
            authenticator: None,
            json_output: false,
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self { duration_max_s: None, rate_max_bps: None, flows_max: iperf3::limits::STREAMS_MAX, networks: Vec::new() }
    }
}

impl Limits {
    /// How long a test without a time may last, its omitted beginning included.
    #[must_use]
    pub fn longest(&self) -> Duration {
        self.duration_max_s.map_or(defaults::DURATION_MAX, |most| Duration::from_secs(most.into()))
    }

    /// Checks what a client requests.
    ///
    /// # Errors
    /// [`Refusal`] with iperf3's number of the first limit that is exceeded.
    pub fn check(&self, params: &Params) -> Result<(), Refusal> {
        params.check()?;
        let refuse = |code, key, found: String, expected: String| Err(Refusal { code, key, found, expected });
        if params.streams() > self.flows_max {
            let expected = format!("at most {}", self.flows_max);
            return refuse(ErrorCode::STREAMS, "parallel", params.streams().to_string(), expected);
        }
        if let Some(most) = self.duration_max_s {
            let time = params.time.unwrap_or(0);
            let total = time.saturating_add(params.omit.unwrap_or(0));
            if time == 0 || total > most {
                let found = if time == 0 { "no end".to_owned() } else { format!("{total} s") };
                return refuse(ErrorCode::SERVER_DURATION, "time", found, format!("at most {most} s"));
            }
        }
        if let Some(most) = self.rate_max_bps {
            let directions = if params.bidirectional { 2 } else { 1 };
            for (key, rate) in [("bandwidth", params.bandwidth), ("fqrate", params.fqrate)] {
                let total = rate.unwrap_or(0).saturating_mul(u64::from(params.streams()) * directions);
                if total > most {
                    let expected = format!("at most {most} bit/s");
                    return refuse(ErrorCode::TOTAL_RATE, key, format!("{total} bit/s"), expected);
                }
            }
            let block = u64::from(params.len.unwrap_or(WRITE_BYTES));
            let blocks = block.saturating_mul(u64::from(params.streams()) * directions);
            let at_once = blocks.saturating_mul(params.burst.unwrap_or(0).into());
            let carried = (most / 8).saturating_mul(DATAGRAM_RATE_WINDOW.as_secs()).max(blocks);
            if params.bandwidth.is_some_and(|rate| rate > 0) && at_once > carried {
                let expected = format!("at most {carried} bytes, what the limit carries in 1 s");
                return refuse(ErrorCode::TOTAL_RATE, "burst", format!("{at_once} bytes at once"), expected);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_limit_has_iperf3s_own_number() {
        let limits = Limits { duration_max_s: Some(10), rate_max_bps: Some(1000), flows_max: 2, networks: Vec::new() };
        let requested = Params { tcp: true, time: Some(9), omit: Some(1), bandwidth: Some(500), ..Params::default() };
        let code = |params: Params| limits.check(&params).map_err(|refusal| refusal.code.0);
        assert_eq!(code(Params { parallel: Some(2), ..requested.clone() }), Ok(()));
        assert_eq!(code(Params { parallel: Some(3), ..requested.clone() }), Err(6));
        assert_eq!(code(Params { omit: Some(2), ..requested.clone() }), Err(37));
        assert_eq!(code(Params { time: Some(0), num: Some(1), ..requested.clone() }), Err(37));
        assert_eq!(code(Params { bandwidth: Some(1001), ..requested.clone() }), Err(27));
        assert_eq!(code(Params { bandwidth: Some(501), bidirectional: true, ..requested.clone() }), Err(27));
        assert_eq!(code(Params { bandwidth: Some(u64::MAX), parallel: Some(2), ..requested.clone() }), Err(27));
        let burst = |burst| Params { bandwidth: Some(100), len: Some(50), burst: Some(burst), ..requested.clone() };
        assert_eq!([2, 3].map(|blocks| code(burst(blocks))), [Ok(()), Err(27)]);
        assert_eq!(code(Params { parallel: Some(2), ..burst(2) }), Err(27));
        assert_eq!(code(Params { len: Some(1000), ..burst(1) }), Ok(()), "a block is sent at once whatever the rate");
    }
}
