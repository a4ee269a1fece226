"""What a command's end says to whoever started it; 0 if all is well."""

EXIT_TRIALS_FAILED = 1
EXIT_DAMAGED = 1
"""An archive is not as it was written."""
EXIT_FAILED_IF = 1
"""A comparison found what it was to fail for."""
EXIT_ALARM = 1
"""An alarm of a campaign is on."""
EXIT_USAGE = 2
EXIT_UNDECIDED = 3
"""A comparison was to fail for something, and cannot tell."""
EXIT_SIGNALLED = 128
"""And the signal's number, as shells have it."""
EXIT_INTERRUPTED = EXIT_SIGNALLED + 2
"""Ctrl-C: SIGINT."""
