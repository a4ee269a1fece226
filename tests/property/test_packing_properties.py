"""Whatever jobs there are: all run once, none shares what it may not, and no bound is beaten."""

from types import SimpleNamespace

from hypothesis import given
from hypothesis import strategies as st

from flowsweep.schedule.packing import Job, Need, Sharing, packed

HOSTS = [Need("host", name) for name in "abcdef"]
LINKS = [Need("link", name) for name in "xyz"]
PLACES = {LINKS[1]: 2, LINKS[2]: 3}

needs = st.builds(
    lambda hosts, links: frozenset((*hosts, *links)),
    st.sets(st.sampled_from(HOSTS), max_size=4),
    st.sets(st.sampled_from(LINKS), max_size=2),
)
jobs_drawn = st.lists(
    st.builds(lambda own, lasts: Job(SimpleNamespace(), own, lasts), needs, st.integers(1, 20)),  # type: ignore[arg-type]
    max_size=25,
)


@given(jobs=jobs_drawn, at_once=st.integers(1, 6))
def test_all_run_within_what_there_is_and_within_the_bounds(jobs: list[Job], at_once: int) -> None:
    sharing = Sharing(at_once, lambda _: frozenset(), PLACES)
    found = packed(jobs, sharing)
    assert list(found.begins_ns.keys() - set(jobs)) == []
    assert len(found.begins_ns) == len(jobs)
    spans = [(begin, begin + job.lasts_ns, job) for job, begin in found.begins_ns.items()]
    for moment, _, _ in spans:
        running = [job for begin, end, job in spans if begin <= moment < end]
        assert len(running) <= at_once
        for need in (*HOSTS, *LINKS):
            assert sum(need in job.needs for job in running) <= sharing.places(need)
    assert found.bound_ns <= found.lasts_ns <= sum(job.lasts_ns for job in jobs)
    assert found.lasts_ns == max((end for _, end, _ in spans), default=0)


@given(jobs=jobs_drawn)
def test_one_at_a_time_they_run_in_their_order_without_a_pause(jobs: list[Job]) -> None:
    found = packed(jobs, Sharing(1, lambda _: frozenset(), PLACES))
    assert list(found.begins_ns) == jobs
    assert found.lasts_ns == sum(job.lasts_ns for job in jobs)
