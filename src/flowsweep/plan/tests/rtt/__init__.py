"""Keys of round-trip times."""
