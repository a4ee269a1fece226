use std::{io, net::IpAddr, path::PathBuf, process::ExitCode, time::Duration};

use clap::Args;
use quic_perf_server::{Config, Server, defaults};
use serving::Network;

use crate::server_command::{self, BITS_PER_SECOND, BYTES, DAY_S, SECONDS, log, whole};

/// Settings of the server.
#[derive(Args)]
pub struct Arguments {
    /// Port of UDP; 0: one that is free.
    #[arg(long, short, default_value_t = defaults::PORT, value_parser = whole(0..=u16::MAX, ""))]
    port: u16,
    /// Address to listen on; all of both families otherwise.
    #[arg(long, short = 'B', value_name = "ADDRESS")]
    bind: Option<IpAddr>,
    /// Connections at once.
    #[arg(long, value_name = "COUNT", default_value_t = defaults::CONNECTIONS_MAX, value_parser = whole(1_usize.., ""))]
    connections_max: usize,
    /// Connections at once from one address (of IPv6: from one /64); a quarter of all places otherwise.
    #[arg(long, value_name = "COUNT", value_parser = whole(1_usize.., ""))]
    connections_per_address: Option<usize>,
    /// Streams of a connection at once, of each kind.
    #[arg(long, value_name = "COUNT", default_value_t = defaults::STREAMS_MAX, value_parser = whole(1..=u32::MAX, ""))]
    streams_max: u32,
    /// Most bytes of a stream in each direction.
    #[arg(long, value_name = "BYTES", default_value_t = defaults::BYTES_MAX, value_parser = whole(0_u64.., BYTES))]
    bytes_max: u64,
    /// What a connection lets its client send ahead, and what it keeps that is not acknowledged, in bytes.
    #[arg(long, value_name = "BYTES", default_value_t = defaults::WINDOW_BYTES, value_parser = whole(1..=u32::MAX, BYTES))]
    window: u32,
    /// Highest rate of a connection, over all its streams and both directions, in bit/s, by what they carry.
    #[arg(long, value_name = "BIT/S", value_parser = whole(1_u64.., BITS_PER_SECOND))]
    rate_max: Option<u64>,
    /// Longest connection, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = defaults::DURATION_MAX.as_secs(), value_parser = whole(1..=DAY_S, SECONDS))]
    duration_max: u64,
    /// A connection without a stream, and a stream without a byte, ends after so long, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = defaults::IDLE_TIMEOUT.as_secs(), value_parser = whole(1..=DAY_S, SECONDS))]
    idle_timeout: u64,
    /// A network whose hosts may connect, such as 192.0.2.0/24; may be given again. Without any, everybody.
    #[arg(long, value_name = "CIDR")]
    allow: Vec<Network>,
    /// A file to which each connection is written, as a line of JSON; `-` is standard output.
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
}

/// Serves until Ctrl-C or a termination.
pub fn run(arguments: Arguments) -> ExitCode {
    server_command::run(|| serve(arguments))
}

fn serve(arguments: Arguments) -> io::Result<()> {
    let stop = sys::termination_signals()?;
    let log = log(arguments.log.as_deref())?;
    let server = Server::open(arguments.into_config(), log).map_err(io::Error::other)?;
    eprintln!("flowsweep-engine: a server for QUIC's perf protocol listens on {}", server.address()?);
    server.serve(&stop)
}

impl Arguments {
    fn into_config(self) -> Config {
        let share = Config::share_of_one(self.connections_max);
        Config {
            bind: self.bind,
            port: self.port,
            connections_max: self.connections_max,
            per_address_max: self.connections_per_address.unwrap_or(share),
            streams_max: self.streams_max,
            bytes_max: self.bytes_max,
            window_bytes: self.window,
            rate_max_bps: self.rate_max,
            duration_max: Duration::from_secs(self.duration_max),
            idle_timeout: Duration::from_secs(self.idle_timeout),
            networks: self.allow,
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Command {
        #[command(flatten)]
        arguments: Arguments,
    }

    #[test]
    fn each_option_is_read() {
        let options = ["port", "connections-max", "connections-per-address", "streams-max", "bytes-max", "window"];
        for option in options.into_iter().chain(["rate-max", "duration-max", "idle-timeout"]) {
            let read = |value| Command::try_parse_from(["quic-perf-server".into(), format!("--{option}={value}")]);
            assert!(read("7").is_ok_and(|read| read.arguments.into_config().window_bytes > 0), "{option}");
            assert!(read("7M").is_err_and(|error| error.to_string().contains("expected a whole number")), "{option}");
        }
    }
}
