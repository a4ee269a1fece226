"""What trials of QUIC say beyond bytes: what held the source back, and what packets cost."""
