"""What a command's end says to whoever started it; 0 if all is well."""

_SIGNALS = "128 + its number after a signal, 130 after Ctrl-C."
CODES_OF_CHECK = (
    "Exit codes: 0 all is well; 1 trials would fail (--hosts); 2 the plan or the command line is wrong, or "
    f"this machine cannot create its lab; {_SIGNALS}"
)
CODES_OF_RUN = (
    "Exit codes: 0 all is well; 1 trials are failed or incomplete, scheduled runs were missed, or it broke "
    "off after some trials: all of that is recorded; 2 nothing ran: the plan or the command line is wrong, "
    f"or hosts, monitors, lab or archive are unavailable; {_SIGNALS}"
)
CODES_OF_COMPARE = (
    "Exit codes: 0 all is well; 1 B is, overall or at a point, what --fail-if names; 2 the command line is "
    "wrong, or an archive cannot be read or compared; 3 --fail-if is undecided; 130 after Ctrl-C."
)
CODES_OF_SERVICE = (
    "Exit code 2: a plan or the command line is wrong, or cannot be read, or this machine cannot create a "
    "plan's lab; nothing was started."
)
CODES_OF_TUNE = (
    "Exit codes: 0 all is well, also where nothing gains; 1 a trial failed (not one of a congestion control "
    "that a host forbids), the answer could not be written whole, or there is no answer; 2 nothing was "
    f"tried: the command line is wrong, or a host or the folder is unavailable; {_SIGNALS}"
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
EXIT_UNFORESEEN = 70
"""A defect of Flowsweep's own, of any command: Python's 1 would say that an alarm is on, or B slower."""
EXIT_SIGNALLED = 128
"""And the signal's number, as shells have it; also where nobody reads any more what is said (SIGPIPE)."""
EXIT_INTERRUPTED = EXIT_SIGNALLED + 2
"""Ctrl-C: SIGINT."""
