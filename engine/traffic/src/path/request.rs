//! A short request to the sink, and its response.

use std::time::Instant;

use super::{
    datagram::{LONG_BYTES, Request, Response},
    run::Run,
    sink::Secrets,
};
use crate::{
    TrialError,
    defaults::{DATAGRAMS_AT_ONCE, PATH_REPEAT},
};

/// Sends a short request and waits a moment for its response.
pub fn request_once(
    run: &mut Run<'_>,
    secrets: Secrets,
    request: Request,
    is_due: impl Fn(Response) -> bool,
) -> Result<Option<Response>, TrialError> {
    let mut buffer = [0; LONG_BYTES];
    request.write(secrets.source, &mut buffer);
    // A request that is not sent is repeated by the caller, like one that is lost.
    let _ = run.line.send(&buffer);
    let until = Instant::now() + PATH_REPEAT;
    loop {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(None);
        }
        run.line.wait(left);
        for _ in 0..DATAGRAMS_AT_ONCE {
            let Some((response, _)) = run.receive(&mut buffer, |bytes| Response::read(bytes, secrets.sink)) else {
                break;
            };
            if is_due(response) {
                return Ok(Some(response));
            }
        }
        let _ = (0..DATAGRAMS_AT_ONCE).take_while(|_| run.receive_error(&mut buffer).is_some()).count();
        run.look()?;
    }
}
