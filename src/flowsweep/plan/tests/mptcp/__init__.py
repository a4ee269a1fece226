"""Keys of Multipath TCP."""
