"""A journal of any bytes is read, or refused as damaged; what is read makes a table of trials."""

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path

from analysis_support import make_campaign, make_failed
from flowsweep.archive import create_archive, read_archive, reader
from flowsweep.archive.journal import JOURNAL_FILE, frame
from flowsweep.archive.trials import trials_table
from flowsweep.errors import ArchiveError
from fuzz.folders import archive_folder

PLAN = '{"links":[{"name":"wire","between":["a","b"],"forward":{"rate_bps":1000000},"backward":{}}]}'
HEADER_BYTES = 12
"""Of a record; its first four bytes are the length of its payload."""
reader._TRIES = 1  # nobody writes the rest of a record here
AS_IT_IS = b"R"
"""First byte of an input that is a journal; what follows another one is made one, see `journal_of`."""


def try_one(data: bytes) -> None:
    """Raises whatever is no refusal."""
    folder = archive_folder(PLAN)
    (folder / JOURNAL_FILE).write_bytes(journal_of(data))
    with contextlib.suppress(ArchiveError), read_archive(folder) as read:
        state = read.state
        assert state.records == read.records
        assert not any(file.startswith(("/", ".")) for files in state.files.values() for file in files)
        trials_table(state.records.values(), state.imported.values(), attempts=state.attempts)


def journal_of(data: bytes) -> bytes:
    """The bytes themselves; or their lines as records with checksums, and after a zero byte anything.

    No chance finds the checksums that a journal needs.
    """
    first, rest = data[:1], data[1:]
    if first == AS_IT_IS:
        return rest
    records, _, tail = rest.partition(b"\0")
    return b"".join(frame(line) for line in records.split(b"\n") if line) + tail


def seeds() -> Iterator[tuple[str, bytes]]:
    """Journals of small campaigns, as they are and as lines."""
    first, second, *_ = make_campaign(flows=(1, 2), window_sums=(1 << 18,))
    with tempfile.TemporaryDirectory() as folder:
        with create_archive(Path(folder) / "archive", plan_json=PLAN, seed=1) as writer:
            writer.hosts({"a": {"hostname": "a", "cpus": 2}})
            writer.started(first.record.trial_id, 1, first.record.started_at)
            writer.finished(make_failed(first.record.trial))
            yield "failed", AS_IT_IS + (writer.folder / JOURNAL_FILE).read_bytes()
            writer.finished(second)
            writer.compact()
        whole = (writer.folder / JOURNAL_FILE).read_bytes()
    yield "torn", AS_IT_IS + whole[:-9]
    yield "lines", b"L" + b"\n".join(payloads(whole))


def payloads(whole: bytes) -> Iterator[bytes]:
    """What the records of a whole journal hold."""
    while whole:
        end = HEADER_BYTES + int.from_bytes(whole[:4])
        yield whole[HEADER_BYTES:end]
        whole = whole[end:]
