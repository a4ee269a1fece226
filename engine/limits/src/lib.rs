//! What strangers may do at a standing measurement point, and who is doing it.
//!
//! A controller's session is an engine of its own, which its host's SSH server starts. What several of them share lies in a
//! folder ([`state`]): turns, and the bytes of each day. A [`Gate`] decides on each end of a trial before anything of it
//! begins; an [`Admitted`] end says whom it may exchange traffic with, how much, and for how long.

mod admitted;
mod asked;
mod audit;
mod availability;
mod check;
mod config;
pub mod defaults;
mod demand;
mod gate;
mod ledger;
mod moment;
mod parse;
mod refusal;
mod seat;
mod session;
mod state;
mod test_name;
mod turns;
mod units;

pub use admitted::Admitted;
pub use availability::{Availability, OfRule, OfTurn};
pub use config::{Limits, Rule};
pub use gate::{Gate, Resolve};
pub use moment::{Between, Hours, Moment};
pub use parse::{LimitsError, is_name};
pub use refusal::Refusal;
pub use test_name::TestName;
pub use turns::Who;
