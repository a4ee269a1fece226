"""How long a campaign keeps what it measured: a key of a plan, and what becomes of it."""
