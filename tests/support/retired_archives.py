"""Archives of a mesh by the clock, of whose parts some have lost their samples, as the plan says."""

from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from pathlib import Path

from flowsweep.archive import open_archive_for_writing, read_archive
from flowsweep.prepared.recorded import summary_to_keep
from flowsweep.prepared.statement import analysis_id
from mesh_support import EVERY, begin_mesh, carried_as_usual, mesh_plan, outcome_of, times_of

TIMES = 3
PLAN = mesh_plan()
RETIRED_AT = datetime(2027, 3, 1, tzinfo=UTC)


def mesh_in_parts(folder: Path, begun: datetime | None = None) -> Path:
    """A part for each time that the mesh was due; the last one goes on."""
    begun = begun or datetime.now(UTC) - EVERY * TIMES
    with begin_mesh(folder, PLAN, begun) as writer:
        for number, (occasion, trials) in enumerate(times_of(PLAN, begun, TIMES)):
            if number:
                writer.compact()
                writer.begin_part()
            due = datetime.fromtimestamp(occasion.due_unix_ns / 1e9, UTC)
            for index, trial in enumerate(trials):
                at = due + timedelta(seconds=6 * index)
                writer.started(trial.trial_id, 1, at)
                writer.finished(outcome_of(trial, at, carried_as_usual(trial, number / TIMES)))
    return folder


def retire(folder: Path, parts: Collection[int]) -> None:
    """Let samples of parts go."""
    with open_archive_for_writing(folder) as writer:
        for number in parts:
            with read_archive(folder, part=number) as archive:
                table = summary_to_keep(archive)
            writer.parts_over.keep_summary(number, table)
            assert writer.parts_over.retire(number, analysis_id(), RETIRED_AT)
