//! Something short that is said to the sink, and the reply to it.

use std::time::Instant;

use super::{
    datagram::{LONG_BYTES, Question, Reply},
    run::Run,
    sink::Secrets,
};
use crate::{
    TrialError,
    defaults::{DATAGRAMS_AT_ONCE, PATH_REPEAT},
};

/// Says something short and waits a moment for the reply to it.
pub fn ask_once(
    run: &mut Run<'_>,
    secrets: Secrets,
    question: Question,
    is_due: impl Fn(Reply) -> bool,
) -> Result<Option<Reply>, TrialError> {
    let mut buffer = [0; LONG_BYTES];
    question.write(secrets.source, &mut buffer);
    // What does not go out is said again, as what gets lost.
    let _ = run.line.send(&buffer);
    let until = Instant::now() + PATH_REPEAT;
    loop {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(None);
        }
        run.line.wait(left);
        for _ in 0..DATAGRAMS_AT_ONCE {
            let Some((reply, _)) = run.receive(&mut buffer, |bytes| Reply::read(bytes, secrets.sink)) else { break };
            if is_due(reply) {
                return Ok(Some(reply));
            }
        }
        let _ = (0..DATAGRAMS_AT_ONCE).take_while(|_| run.receive_error(&mut buffer).is_some()).count();
        run.look()?;
    }
}
