//! Socket buffers: requested, and granted by the kernel.

use std::io;

use socket2::Socket;
use wire::{Granted, Role};

use crate::TrialError;

/// Requests a window, on the side that this end uses.
pub fn set_window(socket: &Socket, role: Role, bytes: u64) -> Result<(), TrialError> {
    let size = usize::try_from(bytes).unwrap_or(usize::MAX);
    match role {
        Role::Source => socket.set_send_buffer_size(size),
        Role::Sink => socket.set_recv_buffer_size(size),
    }
    .map_err(|source| failed(format!("cannot set a window of {bytes} B"), source))
}

/// What the kernel granted of the window that was requested; an error if that is less and the plan does not allow it.
pub fn verify_window(
    socket: &Socket,
    role: Role,
    window_bytes: Option<u64>,
    clip_allowed: bool,
) -> Result<Granted, TrialError> {
    let Some(requested_bytes) = window_bytes else {
        return Ok(Granted::default());
    };
    let (granted, sysctl) = match role {
        Role::Source => (socket.send_buffer_size(), "net.core.wmem_max"),
        Role::Sink => (socket.recv_buffer_size(), "net.core.rmem_max"),
    };
    let granted_bytes = granted.map_err(|source| failed("cannot read the window back", source))? as u64;
    let window_clipped = granted_bytes < 2 * requested_bytes;
    if window_clipped && !clip_allowed {
        return Err(TrialError::WindowClipped { requested_bytes, granted_bytes, sysctl });
    }
    let window_raised = granted_bytes > 2 * requested_bytes;
    Ok(Granted { window_bytes: Some(granted_bytes), window_clipped, window_raised, ..Granted::default() })
}

fn failed(what: impl Into<String>, source: io::Error) -> TrialError {
    TrialError::Socket { what: what.into(), source }
}
