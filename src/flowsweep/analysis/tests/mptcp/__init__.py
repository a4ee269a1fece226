"""What trials of Multipath TCP say beyond bytes: what each path carried."""
