"""`[[sweep.background]]` and the probe beside a trial."""
