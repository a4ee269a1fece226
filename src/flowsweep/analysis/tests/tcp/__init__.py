"""TCP: what the source's kernel said of each flow, and what limited it."""
