//! What a client asks a server for.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::{
    error_code::ErrorCode,
    limits::{
        BURST_MAX, DATAGRAM_BYTES_MAX, DATAGRAM_BYTES_MIN, DURATION_S_MAX, MSS_BYTES_MAX, OMIT_S_MAX, STREAMS_MAX,
        TEXT_CHARS_MAX, WINDOW_BYTES_MAX, WRITE_BYTES_MAX,
    },
    number::{count, switch},
};

/// What a client asks for. Keys that are not here change nothing that a peer could see.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[expect(clippy::struct_excessive_bools, reason = "so it goes over the wire")]
pub struct Params {
    /// Bytes over TCP. One of this and `udp` is set.
    #[serde(skip_serializing_if = "off", deserialize_with = "switch")]
    pub tcp: bool,
    /// Datagrams.
    #[serde(skip_serializing_if = "off", deserialize_with = "switch")]
    pub udp: bool,
    /// Bytes over SCTP.
    #[serde(skip_serializing_if = "off", deserialize_with = "switch")]
    pub sctp: bool,
    /// Beginning that is left out, in addition to `time`, in seconds.
    #[serde(deserialize_with = "count")]
    pub omit: Option<u32>,
    /// Duration in seconds; 0: until `num` or `blockcount` is reached.
    #[serde(deserialize_with = "count")]
    pub time: Option<u32>,
    /// Bytes to send; 0: as many as it takes.
    #[serde(deserialize_with = "count")]
    pub num: Option<u64>,
    /// Writes to make; 0: as many as it takes.
    #[serde(deserialize_with = "count")]
    pub blockcount: Option<u64>,
    /// Segment size in bytes.
    #[serde(rename = "MSS", skip_serializing_if = "Option::is_none", deserialize_with = "count")]
    pub mss: Option<u32>,
    /// `TCP_NODELAY`.
    #[serde(skip_serializing_if = "off", deserialize_with = "switch")]
    pub nodelay: bool,
    /// Streams in each direction.
    #[serde(deserialize_with = "count")]
    pub parallel: Option<u32>,
    /// The server sends.
    #[serde(skip_serializing_if = "off", deserialize_with = "switch")]
    pub reverse: bool,
    /// Both send.
    #[serde(skip_serializing_if = "off", deserialize_with = "switch")]
    pub bidirectional: bool,
    /// Multipath TCP.
    #[serde(skip_serializing_if = "off", deserialize_with = "switch")]
    pub mptcp: bool,
    /// Socket buffers in bytes.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "count")]
    pub window: Option<u32>,
    /// Write length in bytes.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "count")]
    pub len: Option<u32>,
    /// Rate of each stream's writes, in bit/s; 0 or missing: none.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "count")]
    pub bandwidth: Option<u64>,
    /// Rate of each stream that the kernel keeps (`SO_MAX_PACING_RATE`), in bit/s.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "count")]
    pub fqrate: Option<u64>,
    /// Between two looks at the rate, in µs.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "count")]
    pub pacing_timer: Option<u64>,
    /// Writes that may follow each other at once under a rate.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "count")]
    pub burst: Option<u32>,
    /// Type of service of the packets.
    #[serde(rename = "TOS", skip_serializing_if = "Option::is_none", deserialize_with = "count")]
    pub tos: Option<u32>,
    /// Shown with the results.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Shown with the results.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extra_data: Option<String>,
    /// Congestion control of both ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub congestion: Option<String>,
    /// The server's output is wanted among the results.
    #[serde(skip_serializing_if = "off", serialize_with = "as_number", deserialize_with = "switch")]
    pub get_server_output: bool,
    /// Numbers of datagrams have 64 bits.
    #[serde(skip_serializing_if = "off", serialize_with = "as_number", deserialize_with = "switch")]
    pub udp_counters_64bit: bool,
    /// Datagrams must not be cut up on the way.
    #[serde(skip_serializing_if = "off", serialize_with = "as_number", deserialize_with = "switch")]
    pub dont_fragment: bool,
    /// User, password and time, encrypted for the server, in base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub authtoken: Option<String>,
    /// The client's version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_version: Option<String>,
}

/// What flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// Bytes.
    Tcp,
    /// Datagrams.
    Udp,
}

/// Parameters that nobody can be asked for.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("{key}: {found}, expected {expected}")]
pub struct Refusal {
    /// iperf3's number for it.
    pub code: ErrorCode,
    /// The key in question.
    pub key: &'static str,
    /// What stands there.
    pub found: String,
    /// What would be accepted.
    pub expected: String,
}

impl Params {
    /// What flows.
    ///
    /// # Errors
    /// [`Refusal`] unless it is exactly one of TCP and UDP.
    pub fn protocol(&self) -> Result<Protocol, Refusal> {
        match (self.tcp, self.udp, self.sctp) {
            (true, false, false) => Ok(Protocol::Tcp),
            (false, true, false) => Ok(Protocol::Udp),
            _ => Err(Refusal {
                code: ErrorCode::PROTOCOL,
                key: "tcp/udp",
                found: format!("tcp {}, udp {}, sctp {}", self.tcp, self.udp, self.sctp),
                expected: "one of tcp and udp".to_owned(),
            }),
        }
    }

    /// Streams in each direction.
    #[must_use]
    pub fn streams(&self) -> u32 {
        self.parallel.unwrap_or(1)
    }

    /// Checks every number against the bounds that iperf3 has.
    ///
    /// # Errors
    /// [`Refusal`] of the first one that is out of bounds.
    pub fn check(&self) -> Result<(), Refusal> {
        let datagrams = self.protocol()? == Protocol::Udp;
        if self.reverse && self.bidirectional {
            let found = "reverse and bidirectional".to_owned();
            return Err(Refusal { code: ErrorCode(25), key: "reverse", found, expected: "one of them".to_owned() });
        }
        let length = match (datagrams, self.len) {
            (true, Some(_)) => (ErrorCode::DATAGRAM_SIZE, DATAGRAM_BYTES_MIN, DATAGRAM_BYTES_MAX),
            _ => (ErrorCode::BLOCK_SIZE, 1, WRITE_BYTES_MAX),
        };
        let bounds = [
            ("parallel", Some(self.streams()), ErrorCode::STREAMS, 1, STREAMS_MAX),
            ("time", self.time, ErrorCode::DURATION, 0, DURATION_S_MAX),
            ("omit", self.omit, ErrorCode(12), 0, OMIT_S_MAX),
            ("len", self.len, length.0, length.1, length.2),
            ("window", self.window, ErrorCode::BUFFER_SIZE, 0, WINDOW_BYTES_MAX),
            ("MSS", self.mss, ErrorCode::MSS, 0, MSS_BYTES_MAX),
            ("TOS", self.tos, ErrorCode(21), 0, 255),
            ("burst", self.burst, ErrorCode(15), 0, BURST_MAX),
        ];
        for (key, value, code, least, most) in bounds {
            if let Some(value) = value.filter(|value| !(least..=most).contains(value)) {
                let expected = format!("{least} to {most}");
                return Err(Refusal { code, key, found: value.to_string(), expected });
            }
        }
        let texts = [
            ("title", &self.title),
            ("extra_data", &self.extra_data),
            ("congestion", &self.congestion),
            ("authtoken", &self.authtoken),
            ("client_version", &self.client_version),
        ];
        for (key, text) in texts {
            let chars = text.as_ref().map_or(0, |text| text.chars().count());
            if chars > TEXT_CHARS_MAX {
                return Err(Refusal {
                    code: ErrorCode::PARAMS,
                    key,
                    found: format!("{chars} characters"),
                    expected: format!("at most {TEXT_CHARS_MAX}"),
                });
            }
        }
        Ok(())
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks like this")]
fn off(switch: &bool) -> bool {
    !switch
}

/// iperf3 writes, and takes, some switches as `true` only and these as a number only.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks like this")]
fn as_number<S: serde::Serializer>(switch: &bool, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u8(u8::from(*switch))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::frame::parse_json;

    const OF_3_12: &[u8] =
        br#"{"tcp":true,"omit":1,"time":2,"num":0,"blockcount":0,"MSS":1400,"nodelay":true,"parallel":3,
        "reverse":true,"window":65536,"len":8192,"bandwidth":100000000,"pacing_timer":1000,"congestion":"reno",
        "get_server_output":1,"udp_counters_64bit":1,"repeating_payload":0,"client_version":"3.12"}"#;

    #[test]
    fn what_iperf3_sends_is_read() {
        let params: Params = parse_json(OF_3_12).unwrap();
        assert_eq!(params.protocol(), Ok(Protocol::Tcp));
        assert_eq!((params.omit, params.time, params.streams(), params.mss), (Some(1), Some(2), 3, Some(1400)));
        assert!(params.reverse && params.nodelay && params.get_server_output && params.udp_counters_64bit);
        assert_eq!((params.bandwidth, params.congestion.as_deref()), (Some(100_000_000), Some("reno")));
        assert_eq!(params.check(), Ok(()));
    }

    #[test]
    fn what_is_out_of_bounds_is_named() {
        let tcp = Params { tcp: true, ..Params::default() };
        let refused = |params: Params| params.check().unwrap_err().key;
        assert_eq!(refused(Params { parallel: Some(129), ..tcp.clone() }), "parallel");
        assert_eq!(refused(Params { parallel: Some(0), ..tcp.clone() }), "parallel");
        assert_eq!(refused(Params { len: Some(1 << 21), ..tcp.clone() }), "len");
        assert_eq!(refused(Params { len: Some(8), udp: true, tcp: false, ..tcp.clone() }), "len");
        assert_eq!(refused(Params { burst: Some(1001), ..tcp.clone() }), "burst");
        assert_eq!(refused(Params { title: Some("x".repeat(5000)), ..tcp.clone() }), "title");
        assert_eq!(refused(Params { udp: true, ..tcp.clone() }), "tcp/udp");
        assert_eq!(refused(Params { reverse: true, bidirectional: true, ..tcp.clone() }), "reverse");
        assert_eq!(refused(Params::default()), "tcp/udp");
        let message = Params { time: Some(90_000), ..tcp }.check().unwrap_err();
        assert_eq!(
            (message.code, message.to_string()),
            (ErrorCode::DURATION, "time: 90000, expected 0 to 86400".into())
        );
    }

    #[test]
    fn switches_are_written_as_iperf3_takes_them() {
        let params = Params { udp: true, reverse: true, udp_counters_64bit: true, ..Params::default() };
        let text = serde_json::to_string(&params).unwrap();
        assert!(text.contains(r#""reverse":true"#) && text.contains(r#""udp_counters_64bit":1"#), "{text}");
    }

    #[test]
    fn values_without_their_keys_are_refused() {
        assert!(parse_json::<Params>(b"[true,false,false,0,1,0,0]").is_err());
    }

    #[test]
    fn numbers_that_are_none_are_refused() {
        for text in
            [r#"{"time":-1}"#, r#"{"time":1.5}"#, r#"{"parallel":1e12}"#, r#"{"num":"many"}"#, "7", r#"{"tcp":"yes"}"#]
        {
            assert!(parse_json::<Params>(text.as_bytes()).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_said_is_read(time in 0_u32..90_000, parallel in 0_u32..200, num: u32, title: Option<String>) {
            let params = Params {
                udp: true, time: Some(time), parallel: Some(parallel), num: Some(num.into()), title,
                omit: Some(0), blockcount: Some(0), ..Params::default()
            };
            prop_assert_eq!(parse_json::<Params>(&serde_json::to_vec(&params).unwrap()).unwrap(), params);
        }

        #[test]
        fn whatever_comes_is_parameters_or_an_error(text: Vec<u8>) {
            let _ = parse_json::<Params>(&text).map(|params| params.check());
        }
    }
}
