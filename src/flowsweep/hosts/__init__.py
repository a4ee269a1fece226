"""Start engines on hosts, and talk to them."""
