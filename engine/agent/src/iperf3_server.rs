use std::{
    fmt::Display,
    fs, io,
    net::IpAddr,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
    time::Duration,
};

use clap::Args;
use iperf3::auth::{Authenticator, Padding, PrivateKey, SKEW_S_DEFAULT, Users};
use iperf3_server::{Acceptor, Admission, Config, Deadlines, Limits, defaults};
use serving::Network;

use crate::server_command::{self, BITS_PER_SECOND, DAY_S, SECONDS, log, whole};

/// Settings of the server.
#[derive(Args)]
pub struct Arguments {
    /// Port for TCP and UDP; 0: one that is free.
    #[arg(long, short, default_value_t = defaults::PORT, value_parser = whole(0..=u16::MAX, ""))]
    port: u16,
    /// Address to listen on; all of both families otherwise.
    #[arg(long, short = 'B', value_name = "ADDRESS")]
    bind: Option<IpAddr>,
    /// Tests that run at once.
    #[arg(long, value_name = "COUNT", default_value_t = defaults::TESTS_MAX, value_parser = whole(1_usize.., ""))]
    tests_max: usize,
    /// Tests that run at once from one address (of IPv6: from one /64); a quarter of all places otherwise.
    #[arg(long, value_name = "COUNT", value_parser = whole(1_usize.., ""))]
    tests_per_address: Option<usize>,
    /// Clients that wait for a place; whoever comes after them is told that the server is busy.
    #[arg(long, value_name = "COUNT", default_value_t = defaults::QUEUE_MAX, value_parser = whole(0_usize.., ""))]
    queue: usize,
    /// One test at a time, and nobody waits: as iperf3's own server does.
    #[arg(long, conflicts_with_all = ["tests_max", "tests_per_address", "queue"])]
    exclusive: bool,
    /// Longest test, its omitted beginning included, in seconds; without it a day, and an hour where a client says no time.
    #[arg(long, value_name = "SECONDS", value_parser = whole(1..=u32::MAX, SECONDS))]
    duration_max: Option<u32>,
    /// Highest rate of a test, over all its streams and both directions, in bit/s, by what they carry.
    #[arg(long, value_name = "BIT/S", value_parser = whole(1_u64.., BITS_PER_SECOND))]
    rate_max: Option<u64>,
    /// Most streams of a test in each direction.
    #[arg(long, value_name = "COUNT", default_value_t = Limits::default().flows_max, value_parser = whole(1..=u32::MAX, ""))]
    flows_max: u32,
    /// A network whose hosts may test, such as 192.0.2.0/24; may be given again. Without any, everybody.
    #[arg(long, value_name = "CIDR")]
    allow: Vec<Network>,
    /// A client that is to send, or to read, and does not for so long loses its place, in seconds; at most a day.
    #[arg(long, value_name = "SECONDS", default_value_t = defaults::NO_DATA_TIMEOUT.as_secs(), value_parser = whole(1..=DAY_S, SECONDS))]
    no_data_timeout: u64,
    /// A file to which tests are written, one line of JSON an event; `-` is standard output.
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Between two lines of the log on one test, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = defaults::INTERVAL.as_secs_f64(), value_parser = interval)]
    interval: f64,
    /// RSA key in PEM with which clients' user names and passwords are read; only known users may test then.
    #[arg(long, value_name = "FILE", requires = "authorized_users")]
    rsa_private_key: Option<PathBuf>,
    /// Users as iperf3 writes them: a line `user,sha256` each, the SHA-256 of `{user}password` in hexadecimal digits.
    #[arg(long, value_name = "FILE", requires = "rsa_private_key")]
    authorized_users: Option<PathBuf>,
    /// How far the clocks of client and server may be apart, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = SKEW_S_DEFAULT, requires = "rsa_private_key", value_parser = whole(0..=u32::MAX, SECONDS))]
    time_skew: u32,
    /// Accept what clients before iperf3 3.17 encrypt (PKCS#1 v1.5), too.
    #[arg(long, requires = "rsa_private_key")]
    pkcs1: bool,
    /// A client that asks for the server's output gets it as JSON.
    #[arg(long)]
    json: bool,
}

/// Serves until Ctrl-C or a termination.
pub fn run(arguments: Arguments) -> ExitCode {
    server_command::run(|| serve(arguments))
}

fn serve(arguments: Arguments) -> io::Result<()> {
    let stop = sys::termination_signals()?;
    let log = log(arguments.log.as_deref())?;
    let acceptor = Acceptor::open(arguments.into_config()?, log).map_err(io::Error::other)?;
    eprintln!("flowsweep-engine: an iperf3 server listens on {}", acceptor.address()?);
    acceptor.serve(&stop);
    Ok(())
}

impl Arguments {
    fn into_config(self) -> io::Result<Config> {
        let authenticator = self.authenticator()?.map(Arc::new);
        let shared = Admission::shared(self.tests_max, self.queue);
        let shared = Admission { per_address_max: self.tests_per_address.unwrap_or(shared.per_address_max), ..shared };
        Ok(Config {
            authenticator,
            bind: self.bind,
            port: self.port,
            admission: if self.exclusive { Admission::EXCLUSIVE } else { shared },
            limits: Limits {
                duration_max_s: self.duration_max,
                rate_max_bps: self.rate_max,
                flows_max: self.flows_max,
                networks: self.allow,
            },
            no_data_timeout: Duration::from_secs(self.no_data_timeout),
            interval: Duration::from_secs_f64(self.interval),
            json_output: self.json,
            deadlines: Deadlines::default(),
        })
    }

    fn authenticator(&self) -> io::Result<Option<Authenticator>> {
        let (Some(key), Some(users)) = (&self.rsa_private_key, &self.authorized_users) else { return Ok(None) };
        let key = read(key, PrivateKey::from_pem)?;
        let users = read(users, Users::parse)?;
        let paddings = if self.pkcs1 { vec![Padding::Oaep, Padding::Pkcs1] } else { vec![Padding::Oaep] };
        Ok(Some(Authenticator::new(key, paddings, users, self.time_skew)))
    }
}

fn read<T, E: Display>(path: &Path, parse: impl FnOnce(&str) -> Result<T, E>) -> io::Result<T> {
    let named = |error: &dyn Display| io::Error::other(format!("{}: {error}", path.display()));
    let text = fs::read_to_string(path).map_err(|error| named(&error))?;
    parse(&text).map_err(|error| named(&error))
}

fn interval(text: &str) -> Result<f64, String> {
    let bounds = 0.1..=3600.0;
    text.parse()
        .ok()
        .filter(|seconds| bounds.contains(seconds))
        .ok_or_else(|| "expected seconds, from 0.1 to 3600".to_owned())
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

    fn read(option: &str, value: &str) -> Result<Config, String> {
        let command = Command::try_parse_from(["iperf3-server", option, value]).map_err(|error| error.to_string())?;
        command.arguments.into_config().map_err(|error| error.to_string())
    }

    #[test]
    fn each_option_is_read() {
        let options = ["port", "tests-max", "tests-per-address", "queue", "duration-max", "rate-max", "flows-max"];
        for option in options.into_iter().chain(["no-data-timeout", "interval"]) {
            let option = format!("--{option}");
            assert!(read(&option, "7").is_ok(), "{option}");
            assert!(read(&option, "7M").is_err_and(|said| said.contains("': expected ")), "{option}");
        }
    }

    #[test]
    fn options_are_in_bits_per_second_and_seconds() {
        let config = read("--rate-max", "10000000").unwrap();
        assert_eq!(config.limits.rate_max_bps, Some(10_000_000));
        let said = read("--rate-max", "10M").err().unwrap();
        assert!(
            said.contains("'--rate-max <BIT/S>': expected a whole number of bit/s (1000000000 is 1 Gbit/s)"),
            "{said}"
        );
    }

    #[test]
    fn silence_that_no_kernel_bears_is_refused() {
        assert_eq!(read("--no-data-timeout", "86400").unwrap().no_data_timeout, Duration::from_secs(86_400));
        let said = read("--no-data-timeout", "3000000").err().unwrap();
        assert!(said.contains("expected a whole number of seconds, from 1 to 86400"), "{said}");
    }
}
