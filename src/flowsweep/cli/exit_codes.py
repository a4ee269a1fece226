"""What a command's end says to whoever started it; 0 if all is well."""

CODES_OF_CHECK = (
    "Exit codes: 0 all is well; 1 trials would fail (--hosts); 2 the plan or the command line is wrong; 130 "
    "after Ctrl-C."
)
CODES_OF_RUN = (
    "Exit codes: 0 all is well; 1 trials are failed or incomplete, or times were missed, all of which is "
    "recorded; 2 the plan or the command line is wrong, and nothing ran; 130 after Ctrl-C."
)
CODES_OF_COMPARE = (
    "Exit codes: 0 all is well; 1 B is, overall or at a point, what --fail-if names; 2 the command line is "
    "wrong; 3 --fail-if is undecided; 130 after Ctrl-C."
)
"""For people: the help of the commands that end with them."""
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
