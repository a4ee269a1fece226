//! What each end tells the other about the test that is over.

use serde::{Deserialize, Serialize, de::IgnoredAny};

use crate::{number::whole, object::objects};

/// The number of a stream: 1, 3, 4, 5, … in the order in which streams were made; iperf3 leaves 2 out.
#[must_use]
pub fn stream_id(index: u32) -> i64 {
    if index == 0 { 1 } else { i64::from(index) + 2 }
}

/// What one end saw.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Results {
    /// CPU time of the process per elapsed time, in percent of one processor.
    #[serde(default)]
    pub cpu_util_total: f64,
    /// Of that, outside the kernel.
    #[serde(default)]
    pub cpu_util_user: f64,
    /// Of that, in the kernel.
    #[serde(default)]
    pub cpu_util_system: f64,
    /// 1: `retransmits` are known; 0: they are not; −1: this end received.
    #[serde(default, deserialize_with = "whole")]
    pub sender_has_retransmits: i64,
    /// Congestion control of the sockets that sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub congestion_used: Option<String>,
    /// What the server printed, if it was asked for as JSON. Of a peer it is not kept: of any JSON an object in memory has
    /// many times the size.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "skipped")]
    pub server_output_json: Option<serde_json::Value>,
    /// What the server printed, if it was asked for as text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_output_text: Option<String>,
    /// Stream by stream.
    #[serde(default, deserialize_with = "objects")]
    pub streams: Vec<StreamResults>,
}

/// What one end saw of one stream.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StreamResults {
    /// Number of the stream, see [`stream_id`].
    #[serde(deserialize_with = "whole")]
    pub id: i64,
    /// Sent, without the omitted beginning, or received.
    #[serde(deserialize_with = "whole")]
    pub bytes: i64,
    /// Segments sent again; −1: not known.
    #[serde(default = "unknown", deserialize_with = "whole")]
    pub retransmits: i64,
    /// Of datagrams, smoothed as in RFC 1889, in seconds.
    #[serde(default)]
    pub jitter: f64,
    /// Datagrams that were lost.
    #[serde(default, deserialize_with = "whole")]
    pub errors: i64,
    /// Of those, in the omitted beginning; only together with `omitted_packets`.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "maybe")]
    pub omitted_errors: Option<i64>,
    /// Datagrams, sent or the highest number that was received.
    #[serde(default, deserialize_with = "whole")]
    pub packets: i64,
    /// Of those, in the omitted beginning.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "maybe")]
    pub omitted_packets: Option<i64>,
    /// When the stream began: always 0, in seconds.
    #[serde(default)]
    pub start_time: f64,
    /// When it ended, in seconds after that.
    #[serde(default)]
    pub end_time: f64,
}

fn unknown() -> i64 {
    -1
}

fn skipped<'de, D: serde::Deserializer<'de>, T>(deserializer: D) -> Result<Option<T>, D::Error> {
    IgnoredAny::deserialize(deserializer).map(|_| None)
}

fn maybe<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<i64>, D::Error> {
    whole(deserializer).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        frame::parse_json,
        limits::{REPORTED_MAX, RESULTS_BYTES_MAX},
    };

    #[test]
    fn numbers_of_streams_leave_two_out() {
        assert_eq!([0, 1, 2, 127].map(stream_id), [1, 3, 4, 129]);
    }

    #[test]
    fn minus_one_may_have_been_unsigned() {
        let text = br#"{"cpu_util_total":1.5,"sender_has_retransmits":18446744073709551615,"streams":
            [{"id":1,"bytes":1e3,"retransmits":1.8446744073709552e+19,"jitter":0,"errors":0,"packets":0,"end_time":2.5}]}"#;
        let results: Results = parse_json(text).unwrap();
        assert_eq!(results.sender_has_retransmits, -1);
        assert_eq!((results.streams[0].bytes, results.streams[0].retransmits), (1000, -1));
        assert_eq!(results.streams[0].omitted_errors, None);
    }

    #[test]
    fn half_a_byte_is_refused() {
        assert!(parse_json::<Results>(br#"{"streams":[{"id":1,"bytes":0.5}]}"#).is_err());
        assert!(parse_json::<Results>(br#"{"streams":[{"id":1,"bytes":1e300}]}"#).is_err());
        assert!(parse_json::<Results>(br#"{"streams":{}}"#).is_err());
    }

    #[test]
    fn values_without_their_keys_are_refused() {
        assert!(parse_json::<Results>(b"[1.5,1,0.5,0,null,null,null,[]]").is_err());
        assert!(parse_json::<Results>(br#"{"streams":[[1,1000,0,0,0,null,1,null,0,2.5]]}"#).is_err());
        assert!(parse_json::<Results>(br#"{"streams":[{"id":1,"bytes":1000}]}"#).is_ok());
    }

    #[test]
    fn of_what_a_server_printed_as_json_nothing_is_kept() {
        let text = br#"{"streams":[{"id":1,"bytes":1000}],"server_output_json":{"intervals":[1,[2,{"a":null}]]}}"#;
        let results: Results = parse_json(text).unwrap();
        assert_eq!((results.streams.len(), results.server_output_json), (1, None));
        assert!(parse_json::<Results>(br#"{"server_output_json":[1,}"#).is_err());
    }

    #[test]
    fn as_many_streams_as_there_may_be_are_read_and_no_more() {
        let results = |count| Results { streams: vec![StreamResults::default(); count], ..Results::default() };
        let read = |count| parse_json::<Results>(&serde_json::to_vec(&results(count)).unwrap());
        assert_eq!(read(REPORTED_MAX).unwrap().streams.len(), REPORTED_MAX);
        let refused = read(REPORTED_MAX + 1).unwrap_err().to_string();
        assert!(refused.contains("expected a list of at most 256 objects"), "{refused}");
    }

    #[test]
    fn results_of_all_streams_are_within_the_bound() {
        let large = i64::MAX - 1;
        let stream = StreamResults {
            id: large,
            bytes: large,
            retransmits: large,
            jitter: 1.0 / 3.0,
            errors: large,
            omitted_errors: Some(large),
            packets: large,
            omitted_packets: Some(large),
            start_time: 1.0 / 3.0,
            end_time: 1e300 / 3.0,
        };
        let results = Results { streams: vec![stream; REPORTED_MAX], ..Results::default() };
        assert!(4 * serde_json::to_vec(&results).unwrap().len() < RESULTS_BYTES_MAX);
    }

    #[test]
    fn what_is_said_is_read() {
        let stream = StreamResults { id: 3, bytes: 1 << 50, omitted_errors: Some(1), ..StreamResults::default() };
        let results = Results { streams: vec![stream], ..Results::default() };
        assert_eq!(parse_json::<Results>(&serde_json::to_vec(&results).unwrap()).unwrap(), results);
    }
}
