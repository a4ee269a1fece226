//! What an engine must know of a trial that carries files from a folder of one host to a folder of the other.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::TcpSettings;

/// The settings of one end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FileSettings {
    /// As of connections of TCP, in `copy` mode and without a rate. `length_bytes` is what is read, sent or written at once.
    /// `duration_us` is the longest that files are sent; the trial ends once all of them are at the far end.
    pub tcp: TcpSettings,
    /// A folder of this host that is there already. Files are made in its file system only, without names.
    pub folder: String,
    /// How many files are made; at most so many of those of `existing` are read.
    pub files: u32,
    /// Size of each file that is made.
    pub file_bytes: u64,
    /// What a source reads in place of files that it makes: a file, or a folder whose regular files are read, by name.
    /// Nothing there is changed.
    pub existing: Option<String>,
    /// What the files that are made consist of.
    pub content: Content,
    /// What of the way is gone.
    pub part: Part,
    /// What stands between files and the disk.
    pub cache: Cache,
    /// When a sink has files written to the disk.
    pub sync: Sync,
    /// What is compared.
    pub verify: Verify,
    /// Whether a source has its kernel send files from the page cache (`sendfile(2)`). It reads them itself all the same if
    /// they are compared.
    pub sendfile: bool,
}

/// What files consist of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Content {
    /// Bytes that do not compress.
    #[default]
    Random,
    /// Zeros, all of which are written.
    Zeros,
}

/// What of the way from disk to disk is gone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// The source reads files, sends them, and the sink writes them.
    #[default]
    Whole,
    /// The source reads files; it sends their lengths only.
    Read,
    /// The source sends from memory; the sink drops what it receives.
    Network,
    /// The source sends lengths only; the sink writes as many bytes of its own.
    Write,
}

/// What stands between files and the disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Cache {
    /// The page cache, which has nothing of the source's files when the trial begins.
    #[default]
    Dropped,
    /// The page cache, with the source's files in it as far as they fit.
    Warm,
    /// Nothing: `O_DIRECT` at both ends.
    Direct,
}

/// When a sink has files written to the disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Sync {
    /// Once a file is whole (`fsync`); the kernel begins to write it before (`sync_file_range`).
    #[default]
    File,
    /// With each write (`O_DSYNC`).
    Write,
    /// When its kernel likes to.
    None,
}

/// What is compared of a file at both ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verify {
    /// Digests of what was read and of what was received.
    #[default]
    Received,
    /// These, and what is read back from the sink's files once all are there, which does not count as time of the trial.
    Stored,
    /// Nothing.
    None,
}
