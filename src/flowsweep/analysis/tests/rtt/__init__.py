"""Round-trip times."""
