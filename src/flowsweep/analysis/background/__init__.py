"""Background traffic: what it got, and what a trial's own traffic got beside it."""
