"""What hosts, groups and paths must agree on."""
