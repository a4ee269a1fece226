"""What a sweep has beside its trials: when it starts and ends, between which hosts, and what it costs."""

from flowsweep.plan import Plan, parse_plan
from flowsweep.schedule import RttParameters, TcpParameters, Trial, UdpParameters, estimate, expand, schedule
from plan_support import command_line, plan_of

SECOND_NS = 10**9
FIVE_SECONDS = 'duration = "5s"\ncongestion = "cubic"\n'
CROSS = '[[sweep.background]]\nname = "cross"\n'


def trials(sweep: str) -> tuple[Trial, ...]:
    return tuple(trial for point in expand(plan_of(FIVE_SECONDS + sweep)) for trial in point.trials(1))


def test_a_probe_asks_before_during_and_after() -> None:
    (trial,) = trials('probe = "rtt"\nprobe_before = "3s"\nprobe_every = "50ms"')
    (probe,) = trial.background
    assert (probe.name, probe.src, probe.dst, probe.test) == ("probe", "left", "right", "rtt")
    assert probe.start_ns == -3 * SECOND_NS
    assert isinstance(probe.parameters, RttParameters)
    assert probe.parameters.duration_ns == 3 * SECOND_NS + 5 * SECOND_NS + trial.pad_ns + 2 * SECOND_NS
    assert (probe.parameters.every_ns, probe.parameters.poisson) == (SECOND_NS // 20, False)
    assert probe.parameters.echo == "auto"


def test_a_probe_goes_the_way_of_its_trial() -> None:
    there, back = trials('probe = "rtt"\ndirections = "both"\nprobe_echo = "tcp-connect"')
    assert [(one.src, one.dst) for one in (*there.background, *back.background)] == [
        ("left", "right"), ("right", "left"),
    ]  # fmt: skip
    assert there.background[0].parameters.echo == "tcp_connect"


def test_background_ends_with_the_trial_unless_it_says_how_long() -> None:
    sweep = f'{CROSS}start = "2s"\n{CROSS.replace("cross", "later")}start = "1s"\nduration = "1s"'
    (trial,) = trials(sweep)
    cross, later = trial.background
    assert (cross.start_ns, cross.parameters.duration_ns) == (2 * SECOND_NS, 3 * SECOND_NS)
    assert (later.start_ns, later.parameters.duration_ns) == (1 * SECOND_NS, 1 * SECOND_NS)


def test_a_pattern_is_a_burst_after_the_other() -> None:
    """2 s of every 3 s, from 1 s on until 5 s: the last burst ends with the trial."""
    (trial,) = trials(f'{CROSS}flows = 3\nstart = "1s"\non = "2s"\noff = "1s"')
    bursts = [(one.burst, one.start_ns, one.parameters.duration_ns) for one in trial.background]
    assert bursts == [(0, SECOND_NS, 2 * SECOND_NS), (1, 4 * SECOND_NS, SECOND_NS)]
    assert {(one.name, one.parameters.flows) for one in trial.background} == {("cross", 3)}
    (short,) = trials(f'{CROSS}on = "500ms"\noff = "1500ms"\nduration = "2s"')
    assert [(one.burst, one.parameters.duration_ns) for one in short.background] == [(0, SECOND_NS // 2)]


def test_traffic_without_pauses_keeps_its_identity() -> None:
    """Ids of trials that archives have already."""
    (steady,) = trials(CROSS)
    assert steady.background[0].burst is None
    assert steady.trial_id == "1e925d51c4ff"
    (paused,) = trials(f'{CROSS}on = "2s"\noff = "1s"')
    assert paused.trial_id != steady.trial_id


def test_background_has_parameters_of_its_own() -> None:
    sweep = f'window = "1MiB"\n{CROSS}test = "udp"\nrate = "30Mbit/s"\n'
    (udp,) = trials(sweep)[0].background
    assert isinstance(udp.parameters, UdpParameters)
    assert (udp.parameters.rate_bps, udp.parameters.length_bytes) == (30_000_000, 1470)
    assert udp.parameters.window_send_bytes is None
    (tcp,) = trials(f'{CROSS}flows = 9\ncongestion = "bbr"\nwindow = "64KiB"')[0].background
    assert isinstance(tcp.parameters, TcpParameters)
    assert (tcp.parameters.flows, tcp.parameters.congestion, tcp.parameters.window_bytes) == (9, "bbr", 65536)


def test_slow_background_is_written_in_pieces_as_small_as_in_a_sweep() -> None:
    for test in ("tcp", "quic", "mptcp"):
        sweep = f'test = "{test}"\nrate = "1Mbit/s"\nduration = "5s"'
        (alone,) = (trial for point in expand(plan_of(sweep)) for trial in point.trials(1))
        (slow,) = trials(f'{CROSS}test = "{test}"\nrate = "1Mbit/s"')[0].background
        assert slow.parameters.length_bytes == alone.parameters.length_bytes < 8192
    (often,) = trials(f'interval = "500ms"\n{CROSS}rate = "1Mbit/s"')[0].background
    assert often.parameters.length_bytes < slow.parameters.length_bytes
    for keys, length_bytes in (
        ("", 256 * 1024),
        ('rate = "10Gbit/s"', 256 * 1024),
        ('rate = "1Mbit/s"\nlength = "64KiB"', 64 * 1024),
        ('test = "udp"\nrate = "1Mbit/s"', 1470),
    ):
        (one,) = trials(f"{CROSS}{keys}")[0].background
        assert one.parameters.length_bytes == length_bytes


def test_questions_for_round_trips_may_have_background() -> None:
    plan = plan_of(f'test = "rtt"\nduration = "5s"\n{CROSS}test = "udp"\nrate = "30Mbit/s"\nstart = "1s"')
    (trial,) = (trial for point in expand(plan) for trial in point.trials(1))
    (cross,) = trial.background
    assert isinstance(trial.parameters, RttParameters)
    assert (cross.test, cross.start_ns, cross.parameters.duration_ns) == ("udp", SECOND_NS, 4 * SECOND_NS)


def test_what_runs_beside_a_trial_is_part_of_its_identity() -> None:
    alone, probed = trials(""), trials('probe = "rtt"')
    assert alone[0].trial_id != probed[0].trial_id
    slower = trials('probe = "rtt"\nprobe_every = "21ms"')
    assert len({alone[0].trial_id, probed[0].trial_id, slower[0].trial_id}) == 3


def grouped(background: str) -> Plan:
    hosts = "".join(f"[hosts.{name}]\n" for name in ("a1", "a2", "b1", "b2", "c"))
    return parse_plan(
        f"{hosts}[groups]\na = ['a1', 'a2']\nb = ['b1', 'b2']\n[[sweep]]\nprobe = 'rtt'\n"
        f"paths = [{{ from = 'a', to = 'b' }}]\npairs = 1\n{FIVE_SECONDS}{CROSS}{background}",
        "test.toml",
    )


def test_background_may_be_between_other_hosts() -> None:
    plan = grouped("from = 'c'\nto = 'b'")
    (point,) = expand(plan)
    (trial,) = point.trials(1)
    pairs = [(one.name, one.src, one.dst) for one in trial.background]
    assert pairs == [("probe", "a1", "b1"), ("cross", "c", "b1"), ("cross", "c", "b2")]
    assert trial.hosts == ("a1", "b1", "c", "b2")
    assert {host.name for host in plan.hosts} == {"a1", "b1", "c", "b2"}


def test_the_estimate_counts_what_runs_beside() -> None:
    alone = estimate(schedule(plan_of(f'{FIVE_SECONDS}rate = "8Mbit/s"'), 1), ())
    probe = estimate(schedule(plan_of(f'{FIVE_SECONDS}rate = "8Mbit/s"\nprobe = "rtt"'), 1), ())
    assert probe.duration_ns - alone.duration_ns == 4 * SECOND_NS
    assert probe.bytes_at_most - alone.bytes_at_most == 64 * (9_101 // 20 + 1)
    sweep = f'{FIVE_SECONDS}rate = "8Mbit/s"\n{CROSS}flows = 2\nrate = "4Mbit/s"\nduration = "8s"'
    beside = estimate(schedule(plan_of(sweep), 1), ())
    assert beside.duration_ns - alone.duration_ns == 3 * SECOND_NS - 101_000_000
    assert beside.bytes_at_most - alone.bytes_at_most == 1_000_000 * 8_101 // 1_000
    unbounded = estimate(schedule(plan_of(f'{FIVE_SECONDS}rate = "8Mbit/s"\n{CROSS}'), 1), ())
    assert (unbounded.bytes_at_most, unbounded.unbounded_trials) == (None, 1)


def test_axes_do_not_multiply_by_what_runs_beside() -> None:
    two = f"{CROSS}{CROSS.replace('cross', 'other')}"
    assert len(trials(f"flows = [1, 2]\n{two}")) == 2


def test_check_tells_what_runs_beside(tmp_path, monkeypatch, capsys) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(
        "[hosts.left]\n[hosts.right]\n[[sweep]]\npaths = [{ from = 'left', to = 'right' }]\n"
        f"probe = 'rtt'\n{CROSS}test = 'udp'\nrate = '30Mbit/s'\nstart = '1s'\n"
    )
    monkeypatch.setenv("COLUMNS", "200")
    assert command_line(monkeypatch, "check", str(plan)) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "round-trip time (auto) every 20 ms, from 2 s before to 2 s after each trial" in said
    assert "cross: 1 flow of 30.0 Mbit/s (udp), from 1 s on" in said
