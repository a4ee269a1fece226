use std::{
    io::{self, Write},
    sync::{Mutex, PoisonError},
};

use traffic::{Outbox, SampleBatch};
use wire::{Event, FrameKind, MAGIC};

/// The way back to the controller: whole frames, one at a time, whoever sends them.
pub struct FrameWriter<W> {
    output: Mutex<W>,
}

impl<W: Write> FrameWriter<W> {
    /// Opens the stream.
    pub fn open(mut output: W) -> io::Result<Self> {
        output.write_all(MAGIC)?;
        output.flush()?;
        Ok(Self { output: Mutex::new(output) })
    }

    fn write(&self, kind: FrameKind, payload: &[u8]) -> io::Result<()> {
        let frame = wire::encode(kind, payload).map_err(io::Error::other)?;
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        output.write_all(&frame)?;
        output.flush()
    }
}

impl<W: Write + Send> Outbox for FrameWriter<W> {
    fn event(&self, event: Event) {
        // A controller that is gone closes standard input too, which ends the session: nobody is left to be told.
        let _ =
            serde_json::to_vec(&event).map_err(io::Error::other).and_then(|json| self.write(FrameKind::Json, &json));
    }

    fn samples(&self, stream: SampleBatch) {
        let _ = self.write(FrameKind::Arrow, &stream.0);
    }
}
