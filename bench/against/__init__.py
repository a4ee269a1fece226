"""Flowsweep's engine against other tools: same path, same congestion control, same window of time."""
