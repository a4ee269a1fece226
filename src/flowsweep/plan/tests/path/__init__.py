"""Keys of measurements of paths."""
