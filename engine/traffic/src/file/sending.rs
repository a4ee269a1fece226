//! Blocks of files, sent from a buffer or by the kernel.

use std::{
    fs::File,
    io::{self, IoSlice, Write},
    net::TcpStream,
};

use rustix::{
    fs::sendfile,
    io::Errno,
    net::{SendFlags, send},
};
use wire::{BLOCK_HEADER_BYTES, BlockHeader};

use super::reading::{cannot_read, shorter};
use crate::tcp::TcpFlows;

/// Has the kernel send a block of a file behind its header, however long it takes; `passed` counts bytes of the file.
pub fn send_file(
    connection: &TcpStream,
    flows: &TcpFlows,
    block: BlockHeader,
    file: &File,
    passed: impl Fn(usize),
) -> io::Result<()> {
    let header = block.encode();
    let mut written = 0;
    // The header shares a segment with what follows.
    while written < header.len() {
        let sent = send(connection, &header[written..], SendFlags::MORE | SendFlags::NOSIGNAL);
        written += unless_stopped(sent, flows)?;
    }
    let (mut offset, end) = (block.offset, block.offset + block.length);
    while offset < end {
        let left = usize::try_from(end - offset).unwrap_or(usize::MAX);
        match sendfile(connection, file, Some(&mut offset), left) {
            Ok(0) => return Err(cannot_read(block.file as usize, offset, &shorter())),
            sent => passed(unless_stopped(sent, flows)?),
        }
    }
    Ok(())
}

/// How much a call sent, which is nothing if it took too long; an error once the trial is to end.
fn unless_stopped(sent: rustix::io::Result<usize>, flows: &TcpFlows) -> io::Result<usize> {
    match sent.map_err(io::Error::from) {
        Err(error) if passes(&error) && flows.aborted().is_none() => Ok(0),
        other => other,
    }
}

/// Writes a header and what stands behind it, however long it takes; `passed` counts bytes of the latter.
pub fn write_all(
    mut connection: &TcpStream,
    flows: &TcpFlows,
    header: [u8; BLOCK_HEADER_BYTES],
    payload: &[u8],
    mut passed: impl FnMut(usize),
) -> io::Result<()> {
    let mut written = 0;
    while written < header.len() + payload.len() {
        let (rest, behind) = (header.get(written..).unwrap_or_default(), written.saturating_sub(header.len()));
        let slices = [IoSlice::new(rest), IoSlice::new(&payload[behind..])];
        match connection.write_vectored(&slices) {
            Ok(count) => {
                passed(count.saturating_sub(rest.len()));
                written += count;
            }
            Err(error) if passes(&error) => {
                if flows.aborted().is_some() {
                    return Err(error);
                }
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// A call that found nothing to do in time.
pub fn passes(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted)
        && error.raw_os_error() != Some(Errno::TIMEDOUT.raw_os_error())
}
