//! One end of a trial that carries files from a folder of one host to a folder of the other, over TCP.
//!
//! Each flow has two threads at each end, joined by a ring of buffers: so the slowest of disk, network and disk sets the
//! pace, and the waits of the others show which one it is. Files have no names: nothing of them is left, however the
//! engine ends.

mod announced;
mod counters;
mod cpu;
mod credit;
mod detached;
mod device;
mod device_row;
mod folder;
mod read_back;
mod reading;
mod ring;
mod sampler;
mod sending;
mod sink;
mod source;
mod storage_row;
mod store;

use std::{fs::File, iter, net::TcpStream, sync::Arc, thread::Scope, time::Duration};

use wire::{Cache, Encryption, FileSettings, FlowEnd, FlowReport, Mode, Part, Role, TcpSettings};

use self::{
    counters::Counters,
    folder::{Deadlines, Folder},
    read_back::Limits,
    reading::{ReadFile, read_at_least},
    sampler::Sampler,
    source::Source,
    store::{Store, SyncFile},
};
pub use self::{device_row::DeviceRow, storage_row::StorageRow};
use crate::{
    Control, Outbox, Task, TrialError,
    coordinator::Sampling,
    defaults::{DIRECT_BYTES, FILE_MAX_BYTES, FILES_MAX},
    limits::within,
    progress::ProgressReporter,
    samples::Delivery,
    tcp::{self, Kind, TCP, TcpFlow, TcpFlows, Transport, Work},
    threads::spawn,
    time::from_nanoseconds,
};

/// Carries one end of a trial out, from the files to the report.
pub fn carry_out(task: &Task<'_, FileSettings>, control: &Control, outbox: &dyn Outbox) -> Result<(), TrialError> {
    carry_out_with(File::sync_all, read_at_least, task, control, outbox)
}

/// The same, with other ways to have a file written to the disk, and to read one.
fn carry_out_with(
    sync_file: SyncFile,
    read_file: ReadFile,
    task: &Task<'_, FileSettings>,
    control: &Control,
    outbox: &dyn Outbox,
) -> Result<(), TrialError> {
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
    let counters: Arc<[_]> = iter::repeat_with(Arc::default).take(settings.tcp.flows as usize).collect();
    let end = match task.role {
        Role::Source => {
            let files = files(&folder, settings, control)?;
            End::Source(Arc::new(Source::new(files, settings.clone(), read_file)))
        }
        Role::Sink => {
            if matches!(settings.part, Part::Whole | Part::Write) {
                folder.check_space(settings.file_bytes.saturating_mul(settings.files.into()))?;
            }
            End::Sink(Arc::new(Store::new(folder.clone(), settings.clone(), sync_file)))
        }
    };
    let part = settings.part;
    let files = Files { end: Arc::new(end), counters, folder, part, trial: task.trial, control, outbox };
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
    Source(Arc<Source>),
    Sink(Arc<Store>),
}

/// TCP that carries files.
struct Files<'a> {
    end: Arc<End>,
    counters: Arc<[Arc<Counters>]>,
    folder: Arc<Folder>,
    part: Part,
    trial: &'a str,
    control: &'a Control,
    outbox: &'a dyn Outbox,
}

/// The threads of all flows.
struct FileWork {
    end: Arc<End>,
    counters: Arc<[Arc<Counters>]>,
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
                End::Sink(store) => sink::receive(store, flow, flows, counters),
            })
        })
    }
}

/// Takes samples, and knows what is left to do once all threads have ended.
struct FileSampler<'a> {
    rows: Sampler,
    end: Arc<End>,
    control: &'a Control,
    progress: ProgressReporter<'a>,
}

impl Sampling for FileSampler<'_> {
    type Connection = TcpStream;

    fn sample(&mut self, flows: &TcpFlows) {
        self.rows.sample(flows);
    }
}

impl<'a> Kind for Files<'a> {
    type Sampler = FileSampler<'a>;
    type Work = FileWork;
    const TRANSPORT: Transport = TCP;
    const LISTENS_ON: bool = false;

    fn wait_until_ready(&self, _: &[TcpStream], _: &Control) -> Result<(), TrialError> {
        Ok(())
    }

    fn work(&self, _: &Task<'_, TcpSettings>) -> Result<FileWork, TrialError> {
        Ok(FileWork { end: self.end.clone(), counters: self.counters.clone() })
    }

    /// Where the sink holds the source back, the flow's own thread hears all that it says, and sends nothing before.
    fn sink_has_received(&self, _: &TcpSettings) -> fn(&TcpFlow) -> bool {
        if self.part == Part::Write { |flow| flow.first_byte_ns().is_some() } else { tcp::source::sink_has_received }
    }

    /// A flow ends when there is nothing left to send.
    fn least_duration(&self, _: &TcpSettings) -> Duration {
        Duration::ZERO
    }

    fn sampler(&self, role: Role, flows: &[TcpFlow], _: &TcpSettings) -> FileSampler<'a> {
        let rows = Sampler::new(role, flows, self.counters.clone(), &self.folder);
        let progress = ProgressReporter::new(self.trial, role, self.outbox);
        FileSampler { rows, end: self.end.clone(), control: self.control, progress }
    }

    /// Nothing is read back of a trial that is not whole: its time is over, or a flow has said why.
    fn deliver(
        sampler: FileSampler<'a>,
        flows: TcpFlows,
        tables: &mut Delivery<'_>,
    ) -> Result<(Vec<FlowReport>, Option<TrialError>), TrialError> {
        let FileSampler { rows, end, control, mut progress } = sampler;
        let (origin, bytes) = (flows.origin_of_both(), flows.bytes());
        let all_ran_ns = flows.all.iter().filter_map(TcpFlow::first_byte_ns).max();
        let reports = rows.deliver(flows, tables)?;
        let End::Sink(store) = &*end else { return Ok((reports, None)) };
        if reports.iter().any(|flow| flow.end != FlowEnd::Drained) {
            store.let_go();
            return Ok((reports, None));
        }
        let [duration, drain] =
            [store.settings.tcp.duration_us, store.settings.tcp.drain_timeout_us].map(Duration::from_micros);
        let until = origin.instant + from_nanoseconds(all_ran_ns.unwrap_or(0)) + duration + drain;
        let limits = Limits { until, drain, control };
        let tell = || progress.report_if_due(origin.elapsed_ns(), || bytes);
        Ok((reports, read_back::read_back(store, &limits, tell)))
    }
}

#[cfg(test)]
pub(crate) mod tests;
