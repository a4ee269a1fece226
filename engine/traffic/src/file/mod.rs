//! One end of a trial that carries files from a folder of one host to a folder of the other, over TCP.
//!
//! Each flow has two threads at each end, joined by a ring of buffers: so the slowest of disk, network and disk sets the
//! pace, and the waits of the others show which one it is. Files have no names: nothing of them is left, however the
//! engine ends.

mod announced;
mod counters;
mod cpu;
mod device;
mod device_row;
mod folder;
mod reading;
mod ring;
mod sampler;
mod sending;
mod sink;
mod source;
mod storage_row;

use std::{iter, net::TcpStream, sync::Arc, thread::Scope, time::Duration};

use wire::{Cache, Encryption, FileSettings, FlowReport, Mode, Part, Role, TcpSettings};

use self::{
    counters::Counters,
    folder::{Deadlines, Folder},
    sampler::Sampler,
    sink::Sink,
    source::Source,
};
pub use self::{device_row::DeviceRow, storage_row::StorageRow};
use crate::{
    Control, Outbox, Task, TrialError,
    coordinator::Sampling,
    defaults::{DIRECT_BYTES, FILE_MAX_BYTES, FILES_MAX},
    limits::within,
    samples::Delivery,
    tcp::{self, Kind, TCP, TcpFlow, TcpFlows, Transport, Work},
    threads::spawn,
};

/// Carries one end of a trial out, from the files to the report.
pub fn carry_out(task: &Task<'_, FileSettings>, control: &Control, outbox: &dyn Outbox) -> Result<(), TrialError> {
    let settings = task.settings;
    check(settings)?;
    let flows = Task {
        trial: task.trial,
        role: task.role,
        token: task.token,
        answer: task.answer,
        rendezvous: task.rendezvous,
        settings: &settings.tcp,
    };
    tcp::check::check(&flows)?;
    let folder = Arc::new(Folder::open(&settings.folder)?);
    let counters: Arc<[Counters]> = iter::repeat_with(Counters::default).take(settings.tcp.flows as usize).collect();
    let end = match task.role {
        Role::Source => End::Source(Source::new(files(&folder, settings, control)?, settings.clone())),
        Role::Sink => {
            if matches!(settings.part, Part::Whole | Part::Write) {
                folder.check_space(settings.file_bytes.saturating_mul(settings.files.into()))?;
            }
            End::Sink(Sink::new(folder.clone(), settings.clone()))
        }
    };
    let drain = Duration::from_micros(settings.tcp.drain_timeout_us);
    let files = Files { end: Arc::new(end), counters, folder, drain };
    tcp::carry_out_as(&files, &flows, control, outbox)
}

fn check(settings: &FileSettings) -> Result<(), TrialError> {
    within("files", settings.files.into(), 1, FILES_MAX.into())?;
    within("file_bytes", settings.file_bytes, 0, FILE_MAX_BYTES)?;
    let refused = [
        ("a rate", settings.tcp.rate_bps.is_some()),
        ("a mode other than copy", settings.tcp.mode != Mode::Copy),
        ("encryption", settings.tcp.encryption != Encryption::None),
        ("until", settings.tcp.until.is_some()),
    ];
    if let Some((what, _)) = refused.iter().find(|(_, asked)| *asked) {
        return Err(TrialError::Settings(format!(
            "found {what}, expected none: files are sent as fast as they can be, and as they are"
        )));
    }
    let length = u64::from(settings.tcp.length_bytes);
    if settings.cache == Cache::Direct && settings.sendfile {
        let text = "found sendfile past the page cache, from which it sends".into();
        return Err(TrialError::Settings(text));
    }
    if settings.cache == Cache::Direct && !length.is_multiple_of(DIRECT_BYTES) {
        let text = format!("length_bytes is {length}, expected a multiple of {DIRECT_BYTES}, as O_DIRECT needs it");
        return Err(TrialError::Settings(text));
    }
    Ok(())
}

/// What a source will send.
fn files(folder: &Folder, settings: &FileSettings, control: &Control) -> Result<Vec<folder::SourceFile>, TrialError> {
    let deadlines = Deadlines::within(Duration::from_micros(settings.tcp.connect_timeout_us));
    match (&settings.existing, settings.part) {
        (Some(path), _) => folder::existing(path, settings, control, deadlines),
        (None, Part::Network | Part::Write) => Ok(folder::from_memory(settings)),
        (None, Part::Whole | Part::Read) => folder::make(folder, settings, control, deadlines),
    }
}

/// What one end does.
enum End {
    Source(Source),
    Sink(Sink),
}

/// TCP that carries files.
struct Files {
    end: Arc<End>,
    counters: Arc<[Counters]>,
    folder: Arc<Folder>,
    drain: Duration,
}

/// The threads of all flows.
struct FileWork {
    end: Arc<End>,
    counters: Arc<[Counters]>,
}

impl Work for FileWork {
    fn spawn_all<'scope>(
        &'scope mut self,
        scope: &'scope Scope<'scope, '_>,
        flows: &'scope TcpFlows,
        settings: &'scope TcpSettings,
    ) -> Result<(), TrialError> {
        let end = &*self.end;
        flows.all.iter().zip(self.counters.iter()).try_for_each(|(flow, counters)| {
            spawn(scope, flow, flows, &settings.cpus, move || match end {
                End::Source(source) => source.send(flow, flows, counters),
                End::Sink(sink) => sink.receive(flow, flows, counters),
            })
        })
    }
}

/// Takes samples, and knows what is left to do once all threads have ended.
struct FileSampler {
    rows: Sampler,
    end: Arc<End>,
    drain: Duration,
}

impl Sampling for FileSampler {
    type Connection = TcpStream;

    fn sample(&mut self, flows: &TcpFlows) {
        self.rows.sample(flows);
    }
}

impl Kind for Files {
    type Sampler = FileSampler;
    type Work = FileWork;
    const TRANSPORT: Transport = TCP;
    const LISTENS_ON: bool = false;

    fn wait_until_ready(&self, _: &[TcpStream], _: &Control) -> Result<(), TrialError> {
        Ok(())
    }

    fn work(&self, _: &Task<'_, TcpSettings>) -> Result<FileWork, TrialError> {
        Ok(FileWork { end: self.end.clone(), counters: self.counters.clone() })
    }

    /// A flow ends when there is nothing left to send.
    fn least_duration(&self, _: &TcpSettings) -> Duration {
        Duration::ZERO
    }

    fn sampler(&self, role: Role, flows: &[TcpFlow], _: &TcpSettings) -> FileSampler {
        let rows = Sampler::new(role, flows, self.counters.clone(), &self.folder);
        FileSampler { rows, end: self.end.clone(), drain: self.drain }
    }

    fn deliver(
        sampler: FileSampler,
        flows: TcpFlows,
        tables: &mut Delivery<'_>,
    ) -> Result<(Vec<FlowReport>, Option<TrialError>), TrialError> {
        let FileSampler { rows, end, drain } = sampler;
        let reports = rows.deliver(flows, tables)?;
        let wrong = match &*end {
            End::Source(_) => None,
            End::Sink(sink) => sink.verify_stored(drain),
        };
        Ok((reports, wrong))
    }
}

#[cfg(test)]
mod tests;
