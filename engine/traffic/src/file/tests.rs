use wire::{Cache, Content, Encryption, FileSettings, Mode, Part, Sync, TcpSettings, Verify};

/// Settings of a small trial.
pub fn settings() -> FileSettings {
    let tcp = TcpSettings {
        flows: 1,
        length_bytes: 4096,
        window_bytes: None,
        clip_allowed: false,
        congestion: None,
        duration_us: 10_000_000,
        pad_us: 0,
        sample_interval_us: 10_000,
        connect_timeout_us: 5_000_000,
        drain_timeout_us: 5_000_000,
        silence_timeout_us: 5_000_000,
        rate_bps: None,
        pacing_rate_bps: None,
        mss_bytes: None,
        dscp: None,
        no_delay: false,
        fwmark: None,
        cpus: Vec::new(),
        family: None,
        mode: Mode::Copy,
        encryption: Encryption::None,
        until: None,
    };
    FileSettings {
        tcp,
        folder: std::env::temp_dir().to_string_lossy().into_owned(),
        files: 1,
        file_bytes: 10_000,
        existing: None,
        content: Content::Random,
        part: Part::Whole,
        cache: Cache::Dropped,
        sync: Sync::File,
        sendfile: false,
        verify: Verify::Stored,
    }
}
