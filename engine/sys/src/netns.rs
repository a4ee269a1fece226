use std::{fs::File, io, os::fd::AsFd, path::Path, thread};

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

/// Does `work` inside the network namespace that `path` is a handle of (`setns(2)`), on a thread of its own: the
/// caller stays where it is. Files that are opened there stay in that namespace wherever they are used.
///
/// # Errors
/// When the file cannot be opened, is no network namespace, or may not be entered; when there can be no thread.
pub fn in_network_namespace<T: Send>(path: &Path, work: impl FnOnce() -> T + Send) -> io::Result<T> {
    let namespace = File::open(path)?;
    let inside = move || {
        move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network))?;
        Ok(work())
    };
    thread::scope(|scope| {
        let worker = thread::Builder::new().name("netns".into()).spawn_scoped(scope, inside)?;
        worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_no_namespace_is_an_error() {
        assert!(in_network_namespace(Path::new("/proc/self/status"), || ()).is_err());
        assert!(in_network_namespace(Path::new("/proc/self/ns/uts"), || ()).is_err());
    }
}
