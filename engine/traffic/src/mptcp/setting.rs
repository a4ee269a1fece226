//! A setting of the host that is other than its own for moments. What it was before is in a file meanwhile: an engine that
//! is killed then leaves that to the next one.

use std::{
    env, fs, io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

/// A setting that is changed, until it is dropped.
pub struct Changed {
    setting: PathBuf,
    before: String,
    record: Option<PathBuf>,
}

impl Changed {
    /// Changes it; only one engine at a time may. If one was killed that had, the value before is that of before it.
    ///
    /// # Errors
    /// It cannot be read or written.
    pub fn begin(setting: &Path, value: &str, record: Option<PathBuf>) -> io::Result<Self> {
        let now = fs::read_to_string(setting)?.trim().to_owned();
        let left = record.as_ref().and_then(|path| fs::read_to_string(path).ok()).filter(|left| !left.is_empty());
        // Whoever has set it to something else since means that.
        let before = left.filter(|_| now == value).unwrap_or(now);
        if let Some(path) = &record {
            // Where that cannot be, only who is killed in these moments leaves the setting as it is.
            let _ = fs::write(path, &before);
        }
        fs::write(setting, value)?;
        Ok(Self { setting: setting.into(), before, record })
    }
}

impl Drop for Changed {
    fn drop(&mut self) {
        // What could be written a moment ago can be written now; if not, there is nothing else to try.
        if fs::write(&self.setting, &self.before).is_ok() {
            self.record.iter().for_each(|path| drop(fs::remove_file(path)));
        }
    }
}

/// Where a setting of this network namespace is kept that is called so: in a folder that only its owner may write to, and
/// that is empty after each boot.
pub fn record(name: &str) -> Option<PathBuf> {
    let namespace = fs::metadata("/proc/thread-self/ns/net").ok()?.ino();
    let folder = if rustix::process::geteuid().is_root() { "/run".into() } else { env::var_os("XDG_RUNTIME_DIR")? };
    Some(Path::new(&folder).join(format!("flowsweep-{name}-{namespace}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_engine_left_is_put_back_by_the_next_one() {
        let folder = tempfile::tempdir().unwrap();
        let (setting, record) = (folder.path().join("pm_type"), folder.path().join("record"));
        let now = || fs::read_to_string(&setting).unwrap();
        let begin = || Changed::begin(&setting, "1", Some(record.clone())).unwrap();
        fs::write(&setting, "0\n").unwrap();
        // It is killed: nothing of it is dropped.
        std::mem::forget(begin());
        assert_eq!((now().as_str(), record.exists()), ("1", true));
        let next = begin();
        assert_eq!(now(), "1");
        drop(next);
        assert_eq!((now().as_str(), record.exists()), ("0", false));
    }

    #[test]
    fn what_somebody_set_since_stays() {
        let folder = tempfile::tempdir().unwrap();
        let (setting, record) = (folder.path().join("pm_type"), folder.path().join("record"));
        fs::write(&record, "0").unwrap();
        fs::write(&setting, "2\n").unwrap();
        drop(Changed::begin(&setting, "1", Some(record.clone())).unwrap());
        assert_eq!((fs::read_to_string(&setting).unwrap().as_str(), record.exists()), ("2", false));
        drop(Changed::begin(&setting, "1", None).unwrap());
        assert_eq!(fs::read_to_string(&setting).unwrap(), "2");
    }
}
