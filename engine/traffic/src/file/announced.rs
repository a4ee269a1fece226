//! What a source has announced, and what of it is still to come: no file, no connection.

use wire::FileSettings;

use crate::defaults::FILES_MAX;

/// What comes in all, once a flow has said so.
#[derive(Debug, PartialEq, Eq)]
pub struct Announced {
    files: u32,
    bytes: u64,
    /// Of these bytes, those that have not come.
    awaited_bytes: u64,
    /// And those that are of no file so far.
    unopened_bytes: u64,
}

impl Announced {
    /// So many files, of so many bytes together.
    ///
    /// # Errors
    /// It is not what this end was asked to take. Where the source sends files that exist, only it knows their size.
    pub fn new(files: u32, bytes: u64, settings: &FileSettings) -> Result<Self, String> {
        let most = settings.files.min(FILES_MAX);
        if files > most {
            return Err(format!("the source announces {files} files, at most {most} are taken"));
        }
        let due = (settings.files, settings.file_bytes.saturating_mul(settings.files.into()));
        let sized = settings.existing.is_none() && settings.file_bytes > 0;
        if sized && (files, bytes) != due {
            return Err(format!("the source announces {bytes} B in {files} files, expected {} B in {}", due.1, due.0));
        }
        Ok(Self { files, bytes, awaited_bytes: bytes, unopened_bytes: bytes })
    }

    /// Each flow says the same.
    ///
    /// # Errors
    /// This one does not.
    pub fn again(&self, files: u32, bytes: u64) -> Result<(), String> {
        let same = (files, bytes) == (self.files, self.bytes);
        if same { Ok(()) } else { Err("flows of one trial announce different files".into()) }
    }

    /// A block of a file comes.
    ///
    /// # Errors
    /// There is no such file, or more comes than was announced.
    pub fn take(&mut self, file: u32, length: u64) -> Result<(), String> {
        if file >= self.files {
            return Err(format!("file {file} was not announced"));
        }
        let left = self.awaited_bytes.checked_sub(length);
        self.awaited_bytes = left.ok_or_else(|| "more bytes come than were announced".to_owned())?;
        Ok(())
    }

    /// The first block of a file says how large it is.
    ///
    /// # Errors
    /// All files together are larger than was announced.
    pub fn open(&mut self, file: u32, bytes: u64) -> Result<(), String> {
        let left = self.unopened_bytes.checked_sub(bytes);
        self.unopened_bytes = left.ok_or_else(|| format!("file {file} is larger than was announced"))?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::tests::settings;

    fn said(result: Result<impl std::fmt::Debug, String>) -> String {
        result.unwrap_err()
    }

    #[test]
    fn what_was_not_asked_for_is_not_taken() {
        let sized = FileSettings { files: 2, file_bytes: 10_000, ..settings() };
        assert!(Announced::new(2, 20_000, &sized).is_ok());
        for (files, bytes) in [(2, 20_001), (2, 19_999), (1, 20_000)] {
            let said = said(Announced::new(files, bytes, &sized));
            assert!(said.ends_with("expected 20000 B in 2"), "{said}");
        }
        assert_eq!(said(Announced::new(3, 20_000, &sized)), "the source announces 3 files, at most 2 are taken");
        let exist = FileSettings { files: FILES_MAX, file_bytes: 0, ..settings() };
        assert!(Announced::new(3, 1 << 40, &exist).is_ok());
        let both_know = FileSettings { files: 9, existing: Some("/data".into()), ..settings() };
        assert!(Announced::new(3, 1 << 40, &both_know).is_ok());
    }

    #[test]
    fn no_more_comes_than_was_announced() {
        let exist = FileSettings { files: 4, file_bytes: 0, ..settings() };
        let mut announced = Announced::new(2, 100, &exist).unwrap();
        assert_eq!(announced.again(2, 100), Ok(()));
        assert!(said(announced.again(2, 101)).contains("different files"));
        assert_eq!(said(announced.take(2, 1)), "file 2 was not announced");
        assert_eq!((announced.take(0, 60), announced.take(1, 40), announced.take(1, 0)), (Ok(()), Ok(()), Ok(())));
        assert_eq!(said(announced.take(1, 1)), "more bytes come than were announced");
        assert_eq!((announced.open(0, 60), announced.open(1, 40)), (Ok(()), Ok(())));
        assert_eq!(said(announced.open(1, 1)), "file 1 is larger than was announced");
    }
}
