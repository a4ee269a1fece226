"""Keys of TCP."""
