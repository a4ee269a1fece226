"""From samples to exact intervals: one axis of time, bins, goodput, time series."""
