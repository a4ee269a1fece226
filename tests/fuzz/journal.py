"""A journal of any bytes is read, or refused as damaged; what is read makes a table of trials."""

import contextlib
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from analysis_support import make_campaign
from flowsweep.archive import create_archive, read_archive
from flowsweep.archive.campaign import JOURNAL_FILE
from flowsweep.archive.entries import state_of
from flowsweep.archive.journal import frame, parse
from flowsweep.archive.trials import trials_table
from flowsweep.errors import ArchiveError

PLAN = '{"links":[{"name":"wire","between":["a","b"],"forward":{"rate_bps":1000000},"backward":{}}]}'
AS_IT_IS = b"R"
"""First byte of an input that is a journal; what follows another one is made one, see `journal_of`."""


def try_one(data: bytes) -> None:
    """Raises whatever is no refusal."""
    written = journal_of(data)
    with contextlib.suppress(ArchiveError):
        state = state_of(parse(written, JOURNAL_FILE).payloads, Path(JOURNAL_FILE))
        assert state.files.keys() >= {"samples", "flows"}
        assert all(folder.count("/") == 1 for folder in state.folders)
        trials_table(state.records.values(), state.imported.values(), attempts=state.attempts)
    folder = archive()
    (folder / JOURNAL_FILE).write_bytes(written)
    with contextlib.suppress(ArchiveError):
        read = read_archive(folder)
        assert isinstance(dict(read.host_facts), dict)
        assert len(read.records) <= written.count(b"finished")


def journal_of(data: bytes) -> bytes:
    """The bytes themselves; or their lines as records with checksums, and after a zero byte anything.

    No chance finds the checksums that a journal needs.
    """
    first, rest = data[:1], data[1:]
    if first == AS_IT_IS:
        return rest
    records, _, tail = rest.partition(b"\0")
    return b"".join(frame(line) for line in records.split(b"\n") if line) + tail


@cache
def archive() -> Path:
    """A folder with all that an archive has but a journal."""
    folder = Path(tempfile.mkdtemp(prefix="flowsweep-fuzz-")) / "archive"
    create_archive(folder, plan_json=PLAN, seed=1).close()
    return folder


def seeds() -> Iterator[tuple[str, bytes]]:
    """Journals of small campaigns, as they are and as lines."""
    first, second, *_ = make_campaign(flows=(1, 2), window_sums=(1 << 18,))
    with tempfile.TemporaryDirectory() as folder:
        with create_archive(Path(folder) / "archive", plan_json=PLAN, seed=1) as writer:
            writer.hosts({"a": {"hostname": "a", "cpus": 2}})
            writer.started(first.record.trial_id, 1, first.record.started_at)
            writer.finished(first)
            yield "loose", AS_IT_IS + (writer.folder / JOURNAL_FILE).read_bytes()
            writer.compact()
            writer.finished(second)
        whole = (writer.folder / JOURNAL_FILE).read_bytes()
    yield "torn", AS_IT_IS + whole[:-9]
    yield "lines", b"L" + b"\n".join(parse(whole, JOURNAL_FILE).payloads)
