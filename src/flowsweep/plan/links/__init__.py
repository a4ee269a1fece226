"""`[lab.links.NAME]`."""
