"""Everything Flowsweep raises.

FlowsweepError
├── PlanError            the plan or the command line is wrong; nothing ran (exit code 2)
├── ArchiveError         an archive cannot be read, written or resumed (exit code 2; 1 once trials ran)
├── BackendError         tables cannot be computed where they were asked to be (exit code 2)
├── ImportedFileError    a file with past results cannot be read (exit code 1; 2 if none can)
├── ExportError          tables cannot be written as asked (exit code 2)
├── SimulationError      ns-3 is not here, or does not answer (exit code 2)
├── TuningError          a budget holds no search, or nothing to compare with was measured (exit code 2; 1)
├── ServeError           the page is asked for what it does not have, or cannot be served there (exit code 2)
├── LabError             an emulated path cannot be built here
├── MonitorError         a monitor of the plan cannot be asked from here; nothing ran (exit code 2)
├── PreflightError       hosts cannot do what all trials of a plan ask of them; nothing ran (exit code 2)
├── LaunchError          an engine could not be started on a host
└── SessionError         a session with an engine broke, or the engine answered nonsense
"""


class FlowsweepError(Exception):
    """Base of all errors; the text is for a person: where, what was found, what is expected, what to do."""


def in_words(error: Exception) -> str:
    """Say what went wrong; of what nobody expected also its type, since its text is for no person."""
    expected = isinstance(error, (FlowsweepError, OSError))
    return str(error) if expected else f"{type(error).__name__}: {error}"


class PlanError(FlowsweepError):
    """The plan is wrong. Carries every problem of the file, not only the first."""

    def __init__(self, source: str, problems: tuple[str, ...]) -> None:
        self.source = source
        self.problems = problems
        count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
        super().__init__("\n".join([f"{source}: {count}", *(f"  {problem}" for problem in problems)]))


class ArchiveError(FlowsweepError):
    """An archive cannot be read, written or resumed."""


class ArchiveFullError(ArchiveError):
    """An archive takes no more of something, whatever is done."""


class BackendError(FlowsweepError):
    """Tables cannot be computed where they were asked to be."""


class ImportedFileError(FlowsweepError):
    """A file with past results cannot be read."""


class ExportError(FlowsweepError):
    """Tables cannot be written as asked."""


class SimulationError(FlowsweepError):
    """A setting cannot be simulated here; what is missing, or what went wrong."""


class TuningError(FlowsweepError):
    """A search for better settings cannot be made, or not be gone on with."""


class ServeError(FlowsweepError):
    """The page is asked for something that it does not have, or cannot be served as asked."""


class LabError(FlowsweepError):
    """An emulated path cannot be built here."""


class MonitorError(FlowsweepError):
    """A monitor cannot be asked: its secret, a library or a place to ask from is missing; nothing ran."""


class PreflightError(FlowsweepError):
    """No trial of a plan can run on its hosts as they are. Carries all that stands in the way."""

    def __init__(self, problems: tuple[str, ...]) -> None:
        self.problems = problems
        super().__init__("\n".join(["no trial of the plan can run:", *(f"  {one}" for one in problems)]))


class _HostError(FlowsweepError):
    """A host has no engine to talk to."""

    def __init__(self, host: str, message: str, advice: str = "") -> None:
        self.host = host
        self.reason = message
        self.advice = advice
        self.in_full = f"{message}; {advice}" if advice else message
        super().__init__(f"host {host}: {self.in_full}")


class LaunchError(_HostError):
    """An engine could not be started on a host."""


class SessionError(_HostError):
    """A session with an engine broke, or the engine answered nonsense."""
