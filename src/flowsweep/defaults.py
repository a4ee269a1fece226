"""Every default and constant of the controller, in one place.

Times in nanoseconds, sizes in bytes, rates in bit/s, as the suffix says.
"""

MILLISECOND_NS = 1_000_000
SECOND_NS = 1_000_000_000

# A trial
DURATION_NS = 10 * SECOND_NS
OMIT_NS = 0
INTERVAL_NS = 1 * SECOND_NS
SAMPLE_INTERVAL_NS = 100 * MILLISECOND_NS
LENGTH_BYTES = 256 * 1024
FLOWS = 1
FLOWS_MAX = 1024
REPEATS = 1
DRAIN_TIMEOUT_NS = 10 * SECOND_NS
MINIMUM_BINS = 3

# An engine's part of it
PAD_NS = 100 * MILLISECOND_NS
PAD_PER_DURATION = 2e-4
"""Clocks of two hosts may differ by this much in speed."""
CONNECT_TIMEOUT_NS = 10 * SECOND_NS
SILENCE_TIMEOUT_NS = 10 * SECOND_NS
"""How long a path may be silent before its flows count as broken."""

# A session with an engine
SESSION_OPEN_TIMEOUT_S = 20.0
SESSION_REQUEST_TIMEOUT_S = 10.0
RECONNECT_FOR_S = 30.0
RECONNECT_FIRST_PAUSE_S = 0.25
ENGINE_END_TIMEOUT_S = 2.0
"""How long an engine may take to end once its standard input is closed, before it is ended by force."""
COPY_TIMEOUT_S = 120.0
"""How long sending the engine to a host may take."""
TRIAL_SLACK_S = 5.0
"""What an engine may take beyond its own deadlines, before the controller stops waiting for it."""
STOP_TIMEOUT_S = 3.0
"""How long an engine may take to end a trial that it was told to stop."""
