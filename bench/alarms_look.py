"""What a look at the alarms of a long campaign costs: CPU seconds, with kept summaries and without.

Usage: PYTHONPATH=tests/support python bench/alarms_look.py [PARTS] [TRIALS] [FOLDER]

Makes up the archive of one path that is measured every five minutes: PARTS (10) parts that are over, of
TRIALS (10 000) trials each, and a newest one with 500. Then looks at its alarms as it is, has each part's
summary kept as a service does, and looks again. With FOLDER the archive is made there and stays. Prints JSON;
ends with 1 if a look with kept summaries costs more than a third of one without: an eighth is usual.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa

from analysis_support import Steady, make_outcome
from flowsweep.archive.campaign import FORMAT, Campaign, write_campaign
from flowsweep.archive.data_files import new_parquet
from flowsweep.archive.entries import (
    BeginsEntry,
    CompactedEntry,
    ContinuedEntry,
    Entry,
    FinishedEntry,
    HostsEntry,
    StartedEntry,
    merged_table,
)
from flowsweep.archive.folder import Folder
from flowsweep.archive.journal import frame
from flowsweep.archive.kept_summary import keep_summary
from flowsweep.archive.parquet import keyed_tables
from flowsweep.archive.reader import read_archive
from flowsweep.plan import parse_plan
from flowsweep.prepared.recorded import summary_to_keep
from flowsweep.schedule import schedule
from flowsweep.version import __version__

NEWEST = 500
MOST_SHARE = 1 / 3
"""Of a look without kept summaries."""
EVERY = timedelta(minutes=5)
PLAN = """
[campaign]
name = "long"
every = "5min"
[hosts.left]
address = "192.0.2.1"
[hosts.right]
address = "192.0.2.2"
[[sweep]]
paths = [{ from = "left", to = "right" }]
duration = "3s"
"""


def main() -> int:
    """Print the figures; 1 if kept summaries save too little."""
    parts = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    trials = int(sys.argv[2]) if len(sys.argv) > 2 else 10_000
    place = nullcontext(sys.argv[3]) if len(sys.argv) > 3 else tempfile.TemporaryDirectory(dir="/var/tmp")
    with place as base:
        folder = Path(base) / "long"
        counts = [*[trials] * parts, NEWEST]
        if not folder.exists():
            made_up(folder, counts)
        found = {"trials": sum(counts), "parts": len(counts), "cpu_s_without": look(folder)}
        begun_s = cpu_s()
        for number in range(1, parts + 1):
            with read_archive(folder, part=number) as archive:
                keep_summary(archive.parts[0].folder, summary_to_keep(archive))
        found["cpu_s_to_keep_a_part"] = round((cpu_s() - begun_s) / max(1, parts), 1)
        found["kept_bytes"] = sum(file.stat().st_size for file in folder.rglob("summary.*.parquet"))
        found["data_bytes"] = sum(file.stat().st_size for file in folder.rglob("merged/*/*.parquet"))
        found["journal_bytes"] = sum(file.stat().st_size for file in folder.rglob("journal"))
        found["cpu_s_with"] = look(folder)
    print(json.dumps(found, indent=1))
    return int(found["cpu_s_with"] > MOST_SHARE * found["cpu_s_without"])


def look(folder: Path) -> float:
    """CPU seconds of one look."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "flowsweep", "alarms", str(folder)]
    done = subprocess.run(command, check=False, stdout=subprocess.DEVNULL)
    if done.returncode not in (0, 1):
        raise SystemExit(done.returncode)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return round(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, 1)


def cpu_s() -> float:
    """Of this process."""
    return sum(os.times()[:2])


def made_up(folder: Path, counts: list[int]) -> None:
    """Write the archive as a service would have left it, part by part."""
    plan = parse_plan(PLAN, "long.toml")
    begun = datetime.now(UTC) - EVERY * sum(counts)
    campaign = Campaign(
        format=FORMAT,
        flowsweep_version=__version__,
        created_at=begun,
        seed=1,
        plan=json.loads(plan.model_dump_json()),
    )
    [slot] = schedule(plan, 1)
    [trial] = slot.trials
    outcome = make_outcome(trial, Steady(bytes_per_second=12_500_000, retransmits=0), started_at=begun)
    usual = {name: table for name, table in keyed_tables(outcome).items() if table.num_rows}
    done = 0
    for number, count in enumerate(counts, start=1):
        own = folder if number == 1 else folder / f"parts/{number}"
        (own / "merged/1").mkdir(parents=True)
        (own / "trials").mkdir()
        part = Folder(own)
        write_campaign(part, campaign)
        records: list[Entry] = []
        if number > 1:
            records.append(
                BeginsEntry(part=number, at=begun + EVERY * done, settled={trial.sweep: done}, trials=done)
            )
        records.append(HostsEntry(facts={}))
        ids = []
        for place in range(done, done + count):
            one = trial.model_copy(update={"repeat": place + 1})
            at = begun + EVERY * place
            record = outcome.record.model_copy(
                update={"trial": one, "trial_id": one.trial_id, "started_at": at}
            )
            ids.append(record.trial_id)
            rows = {"sample_rows": usual["samples"].num_rows, "flow_rows": usual["flows"].num_rows}
            records += [
                StartedEntry(trial_id=record.trial_id, attempt=1, at=at),
                FinishedEntry(record=record, **rows),
            ]
        records.append(_merged(part, usual, ids))
        if number < len(counts):
            records.append(ContinuedEntry(part=number + 1))
        part.write("journal", b"".join(frame(one.model_dump_json().encode()) for one in records))
        done += count


def _merged(part: Folder, usual: dict[str, pa.Table], ids: list[str]) -> CompactedEntry:
    files, digests = {}, {}
    for name in ("samples", "flows"):
        table = usual[name]
        whole = pa.concat_tables([table] * len(ids)).combine_chunks()
        column = whole.schema.get_field_index("trial_id")
        named = pa.array([trial_id for trial_id in ids for _ in range(table.num_rows)])
        whole = whole.set_column(
            column, whole.schema.field(column), named.cast(whole.schema.field(column).type)
        )
        file = f"merged/1/{name}-0000.parquet"
        if merged_table(file, 1) != name:
            raise ValueError(file)
        with new_parquet(part, file, whole.schema) as writer:
            writer.write_table(whole)
        files[name], digests[file] = (file,), writer.digest
    return CompactedEntry(generation=1, **files, sha256=digests)


if __name__ == "__main__":
    raise SystemExit(main())
