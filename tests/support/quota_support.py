"""CPU quotas for single hosts of a plan: a control group of its own, and a launcher that enters it."""

import contextlib
import itertools
import json
import os
from collections.abc import Iterator
from pathlib import Path

_PERIOD_US = 20_000
_V1 = Path("/sys/fs/cgroup/cpu")
_V2 = Path("/sys/fs/cgroup")
_numbers = itertools.count()


def quotas_missing() -> str | None:
    """Why no CPU quota can be set here; None if it can."""
    root = _root()
    if root is None:
        return "no control group with a CPU quota is mounted"
    return None if os.access(root, os.W_OK) else f"{root} cannot be written"


@contextlib.contextmanager
def cpu_quota(share: float) -> Iterator[str]:
    """Make a control group with a quota of a share of one CPU; the launcher that enters it, as TOML."""
    root = _root()
    assert root is not None
    group = root / f"flowsweep-test-{os.getpid()}-{next(_numbers)}"
    group.mkdir()
    try:
        quota_us = round(share * _PERIOD_US)
        if root == _V1:
            (group / "cpu.cfs_period_us").write_text(str(_PERIOD_US), encoding="ascii")
            (group / "cpu.cfs_quota_us").write_text(str(quota_us), encoding="ascii")
        else:
            (group / "cpu.max").write_text(f"{quota_us} {_PERIOD_US}", encoding="ascii")
        enter = f'echo $$ > {group}/cgroup.procs && exec "$@"'
        yield json.dumps(["sh", "-c", enter, "sh"])
    finally:
        group.rmdir()


def _root() -> Path | None:
    if (_V1 / "cpu.cfs_quota_us").exists():
        return _V1
    controllers = _V2 / "cgroup.subtree_control"
    if controllers.exists() and "cpu" in controllers.read_text(encoding="ascii").split():
        return _V2
    return None
