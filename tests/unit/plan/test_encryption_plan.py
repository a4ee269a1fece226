"""Flows of TCP that are encrypted: the key, what engines are told, and where it is refused."""

import pytest

from flowsweep.errors import PlanError
from flowsweep.packets import in_tls_records
from flowsweep.plan import parse_plan
from flowsweep.prediction.setting import FlowSetting, PathModel
from flowsweep.prediction.tests.registry import PREDICTED_TESTS
from flowsweep.run.tests.registry import settings_of
from flowsweep.schedule import expand
from flowsweep.schedule.tests.tcp import TcpParameters

PLAN = """
[lab.links.wan]
between = ["left", "right"]
[[sweep]]
test = "tcp"
paths = [{ from = "left", to = "right" }]
"""
PATH = PathModel(rate_bps=1e8, rtt_s=0.01, queue_bytes=1e6)


def parameters_of(more: str = "") -> list[TcpParameters]:
    points = expand(parse_plan(PLAN + more, "plan.toml"))
    return [point.parameters for point in points if isinstance(point.parameters, TcpParameters)]


def test_the_key_reaches_both_engines() -> None:
    plain, protected = parameters_of('encryption = ["none", "tls"]')
    for role in ("source", "sink"):
        assert settings_of(plain, role, 0).model_dump()["encryption"] == "none"
        assert settings_of(protected, role, 0).model_dump()["encryption"] == "tls"


def test_trials_without_it_are_those_that_they_were() -> None:
    (absent,) = parameters_of()
    plain, protected = parameters_of('encryption = ["none", "tls"]')
    assert absent == plain
    assert "encryption" not in plain.model_dump()
    assert protected.model_dump()["encryption"] == "tls"


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ('encryption = "tls"\nmode = ["copy", "zerocopy"]', 'found "zerocopy" together with encryption'),
        ('encryption = "ktls"', 'expected "none" or "tls"'),
        ('test = "mptcp"\nencryption = "tls"', "has no effect"),
        ('test = "quic"\nencryption = "tls"', "has no effect"),
    ],
)
def test_where_nothing_can_be_encrypted_it_is_refused(more: str, problem: str) -> None:
    own = PLAN.replace('test = "tcp"\n', "") if "test" in more else PLAN
    with pytest.raises(PlanError) as caught:
        parse_plan(own + more, "plan.toml")
    assert problem in str(caught.value)


def test_an_iperf3_server_encrypts_nothing() -> None:
    hosts = '[hosts.left]\naddress = "192.0.2.1"\n[hosts.right]\naddress = "192.0.2.2"\npeer = "iperf3"\n'
    sweep = PLAN.partition("[[sweep]]")[2]
    with pytest.raises(PlanError) as caught:
        parse_plan(f'{hosts}[[sweep]]{sweep}encryption = "tls"', "plan.toml")
    assert "an iperf3 server encrypts nothing" in str(caught.value)


@pytest.mark.parametrize(
    ("length_bytes", "on_the_path"), [(1, 23), (16_384, 16_406), (16_385, 16_429), (1 << 18, (1 << 18) + 352)]
)
def test_records_take_their_share(length_bytes: int, on_the_path: int) -> None:
    assert in_tls_records(length_bytes) == on_the_path
    _, protected = parameters_of(f'encryption = ["none", "tls"]\nlength = "{length_bytes}B"')
    setting = PREDICTED_TESTS["tcp"].predict(protected, 1, PATH)
    assert isinstance(setting, FlowSetting)
    assert setting.application_share == pytest.approx(length_bytes / on_the_path)
