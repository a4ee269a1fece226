"""UDP: what became of the datagrams."""
