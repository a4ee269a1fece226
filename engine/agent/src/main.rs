//! placeholder until the agent is written.

fn main() {}
