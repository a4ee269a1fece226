"""Keys of QUIC."""
