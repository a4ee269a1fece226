//! What servers for strangers share: from where somebody comes, which networks may, and a log that nobody can flood.

pub mod defaults;
mod everywhere;
mod log;
mod network;
mod origin;
mod refusals;

pub use everywhere::everywhere;
pub use log::Log;
pub use network::{Network, NetworkError, admits};
pub use origin::Origin;
pub use refusals::Refusals;
