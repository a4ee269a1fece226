//! `flowsweep-engine`: makes traffic and measures it, on behalf of a controller.

use std::process::ExitCode;

fn main() -> ExitCode {
    if std::env::args().skip(1).eq(["schema", "messages"]) {
        println!("{}", wire::message_schema());
        return ExitCode::SUCCESS;
    }
    ExitCode::from(2)
}
