"""Keys of UDP."""
