"""The summary: one row per trial."""
