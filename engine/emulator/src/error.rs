use std::{io, path::PathBuf};

/// Why there is no link, or no longer.
#[derive(Debug, thiserror::Error)]
pub enum EmulationError {
    /// The request does not say what it should.
    #[error("{key}: found {found}, expected {expected}")]
    Request {
        /// Where in the request.
        key: String,
        /// What is there.
        found: String,
        /// What could be there.
        expected: String,
    },
    /// The request cannot be read as what it should be.
    #[error("{key}: {source}")]
    Unreadable {
        /// Where in the request.
        key: String,
        /// What was found and expected.
        source: serde_json::Error,
    },
    /// A device could not be made.
    #[error("device {name} in {}: {source}{}", namespace.display(), remedy(source))]
    Make {
        /// Its name.
        name: String,
        /// Where.
        namespace: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// The network namespace of a device has no name any more.
    #[error("namespace {} of device {name} is gone", namespace.display())]
    NamespaceGone {
        /// The device.
        name: String,
        /// The file that was it.
        namespace: PathBuf,
    },
    /// A device does not work any more.
    #[error("device {name} in {}: {operation}: {source}", namespace.display())]
    Device {
        /// Its name.
        name: String,
        /// Where.
        namespace: PathBuf,
        /// What was tried.
        operation: &'static str,
        /// What the kernel said.
        source: io::Error,
    },
    /// Something that has nothing to do with a certain device.
    #[error("{operation}: {source}")]
    System {
        /// What was tried.
        operation: &'static str,
        /// What the kernel said.
        source: io::Error,
    },
    /// A mistake in the emulator.
    #[error("direction {0} ended unexpectedly, which is a mistake in the emulator: please report it")]
    Panicked(usize),
}

impl EmulationError {
    /// Whether the request is to blame, not the machine.
    #[must_use]
    pub fn is_request(&self) -> bool {
        matches!(self, Self::Request { .. } | Self::Unreadable { .. })
    }
}

fn remedy(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::NotFound => {
            ": make the namespace first (ip netns add), and load the kernel module tun if /dev/net/tun is missing"
        }
        io::ErrorKind::PermissionDenied => ": run as root, or inside a user namespace that owns the network namespace",
        io::ErrorKind::ResourceBusy => ": a device of that name exists, choose another name or delete it",
        _ => "",
    }
}
