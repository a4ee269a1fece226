//! The program `flowsweep-engine`: makes traffic and measures it, on behalf of a controller.

mod controller;
mod emulate;
mod facts;
mod iperf3_server;
mod outbox;
mod quic_perf_server;
mod server_command;
mod session;
mod standing;

use std::{io, process::ExitCode};

use clap::{Parser, Subcommand, ValueEnum};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use traffic::AddedTest;

/// Makes network traffic and measures it. Started by `flowsweep` on each host of a campaign.
#[derive(Parser)]
#[command(name = "flowsweep-engine", version, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Take requests on standard input, answer on standard output; end when standard input closes.
    Agent(standing::Arguments),
    /// Say how busy a standing point is, and what its limits allow now.
    Availability(standing::AvailabilityArguments),
    /// Emulate a link between two network namespaces, as one line of JSON on standard input says; tell its counters on
    /// standard output; end when standard input closes.
    Emulate,
    /// Be a server for iperf3's clients, many at once, until Ctrl-C.
    Iperf3Server(Box<iperf3_server::Arguments>),
    /// Be a server for clients of QUIC's perf protocol, many at once, until Ctrl-C.
    QuicPerfServer(Box<quic_perf_server::Arguments>),
    /// Print a schema of what the engine says.
    Schema {
        /// Which one.
        what: What,
    },
}

#[derive(Clone, Copy, ValueEnum)]
enum What {
    /// JSON Schema of the control channel's messages.
    Messages,
    /// JSON Schema of what `emulate` reads and writes.
    Emulation,
    /// The columns of the samples, with unit and meaning.
    Samples,
    /// The columns of CPU time, with unit and meaning.
    Cpu,
    /// The columns of echoes, with unit and meaning.
    Echoes,
    /// The columns of probes of hops, with unit and meaning.
    Hops,
    /// The columns of packets of trains and streams, with unit and meaning.
    Trains,
    /// The columns of what became of datagrams, with unit and meaning.
    Datagrams,
    /// The columns of subflows, with unit and meaning.
    Subflows,
    /// The columns of QUIC's connections, with unit and meaning.
    Quic,
    /// The columns of QUIC's streams, with unit and meaning.
    Streams,
    /// The columns of what flows did with files, with unit and meaning.
    Storage,
    /// The columns of block devices, with unit and meaning.
    Devices,
    /// The columns of histograms, with unit and meaning.
    Histograms,
}

/// Does what the command line says.
///
/// # Arguments
/// `added`: tests of other crates, which it can carry out beside its own.
#[must_use]
pub fn run(added: &'static [AddedTest]) -> ExitCode {
    match Arguments::parse().command {
        Command::Agent(arguments) => agent(arguments, added),
        Command::Availability(arguments) => standing::availability(&arguments),
        Command::Emulate => emulate::run(),
        Command::Iperf3Server(arguments) => {
            raise_file_limit();
            iperf3_server::run(*arguments)
        }
        Command::QuicPerfServer(arguments) => quic_perf_server::run(*arguments),
        Command::Schema { what } => {
            println!(
                "{}",
                match what {
                    What::Messages => wire::message_schema(),
                    What::Emulation => wire::emulation_schema(),
                    What::Samples => traffic::schema_json::<traffic::Sample>(),
                    What::Cpu => traffic::schema_json::<traffic::CpuRow>(),
                    What::Echoes => traffic::schema_json::<traffic::EchoRow>(),
                    What::Hops => traffic::schema_json::<traffic::HopRow>(),
                    What::Trains => traffic::schema_json::<traffic::TrainRow>(),
                    What::Datagrams => traffic::schema_json::<traffic::DatagramRow>(),
                    What::Subflows => traffic::schema_json::<traffic::SubflowRow>(),
                    What::Quic => traffic::schema_json::<traffic::QuicRow>(),
                    What::Streams => traffic::schema_json::<traffic::StreamRow>(),
                    What::Storage => traffic::schema_json::<traffic::StorageRow>(),
                    What::Devices => traffic::schema_json::<traffic::DeviceRow>(),
                    What::Histograms => traffic::schema_json::<traffic::HistogramRow>(),
                }
            );
            ExitCode::SUCCESS
        }
    }
}

fn agent(arguments: standing::Arguments, added: &'static [AddedTest]) -> ExitCode {
    raise_file_limit();
    let gate = arguments.gate();
    server_command::run(|| session::serve(io::stdin(), io::stdout(), added, gate.as_ref()))
}

/// Each flow and each client of a server is a file: many need what the host allows, not what it gives at first.
fn raise_file_limit() {
    let limit = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}
