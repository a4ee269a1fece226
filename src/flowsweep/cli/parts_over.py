"""A service's parts that are over: summed up once, in a process of low priority that ends with it."""

import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa

from flowsweep.archive import ArchiveWriter
from flowsweep.campaigns.agreed_time import AgreedTime
from flowsweep.campaigns.retention import Retention
from flowsweep.errors import ArchiveError
from flowsweep.plan import Plan
from flowsweep.prepared.statement import analysis_id

_NICE = ("nice", "-n", "10")
"""Of no effect where this program is not there."""
_SAID_MAX = 400


class Retentions:
    """What keeps the summaries of archives' parts that are over, and lets samples go as their plans say.

    What looks at the clock agree on outlives the tries of a campaign.
    """

    def __init__(self) -> None:
        self._agreed: defaultdict[Path, AgreedTime] = defaultdict(AgreedTime)

    def __call__(self, writer: ArchiveWriter, plan: Plan, told: Callable[[str], None]) -> Retention:
        """Make what does that for a campaign."""
        return Retention(
            writer.parts_over,
            analysis=analysis_id(),
            sum_up=summed_up_apart,
            samples_ns=None if plan.retain is None else plan.retain.samples_ns,
            told=told,
            agreed=self._agreed[writer.folder],
        )


def summed_up_apart(archive: Path, part: int, timeout_s: float) -> pa.Table:
    """Sum up a part, by its number, in a process of its own: a service is to stay small.

    Raises:
        ArchiveError: It cannot be done, or not within that time.
    """
    before = () if shutil.which(_NICE[0]) is None else _NICE
    command = [*before, sys.executable, "-P", "-m", "flowsweep", "summary"]
    command += [str(archive), "--to-keep", str(part)]
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout_s, check=True
        )
        return pa.ipc.open_stream(done.stdout).read_all()
    except subprocess.TimeoutExpired as error:
        raise ArchiveError(
            f"{archive}: part {part} could not be summed up within {timeout_s:.0f} s"
        ) from error
    except subprocess.CalledProcessError as error:
        said = error.stderr.decode(errors="replace").strip()[-_SAID_MAX:]
        raise ArchiveError(f"{archive}: part {part} could not be summed up: {said or error}") from error
    except (OSError, pa.ArrowException) as error:
        raise ArchiveError(f"{archive}: part {part} could not be summed up: {error}") from error
