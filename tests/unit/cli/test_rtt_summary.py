"""What `flowsweep rtt` says of its probes: who answered them, as far as that is known."""

from dataclasses import replace

import pytest

from flowsweep.cli.one_trial import Measured
from flowsweep.cli.rtt_summary import print_summary
from flowsweep.cli.summary_rows import row_of_outcomes
from rtt_support import make_rtt_outcome, make_rtt_trial

pytestmark = pytest.mark.whole

BEHIND_NAT = "192.0.2.1 is not the sink's own address"
"""As the engine begins its remarks on that."""
MAY_BE_A_ROUTER = f"{BEHIND_NAT}: these may be round trips to a router that translates addresses (NAT)"
INSTEAD = (
    f"{BEHIND_NAT}, so a router that translates addresses (NAT) may answer ICMP echo: "
    "datagrams are answered by the other engine instead"
)


@pytest.mark.parametrize(
    ("echo", "remarks", "expected"),
    [
        ("icmp", (), "ICMP echo, which the sink's kernel answers: closest"),
        ("icmp", ("something else",), "ICMP echo, which the sink's kernel answers: closest"),
        ("icmp", (MAY_BE_A_ROUTER,), "ICMP echo: the remark says that it may not be the sink that answers"),
        ("tcp_connect", (), "opening a TCP connection: the sink's kernel answers"),
        ("tcp_connect", (MAY_BE_A_ROUTER,), "opening a TCP connection: the remark says that it may not be"),
        ("udp", (INSTEAD,), "datagrams, which the sink's engine answers"),
    ],
)
def test_who_answers_is_said_only_as_far_as_it_is_known(
    echo: str, remarks: tuple[str, ...], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    made = make_rtt_outcome(make_rtt_trial(), [(10 * i, 20.0) for i in range(20)], echo=echo)
    (source,) = made.record.sources
    source = source.model_copy(update={"remarks": remarks})
    made = replace(made, record=made.record.model_copy(update={"sources": (source,)}))
    print_summary(Measured(row_of_outcomes([made]), made))
    lines = capsys.readouterr().out.splitlines()
    (probed_with,) = (line for line in lines if line.startswith("probed with"))
    assert probed_with[22:].startswith(expected)
    assert any(line.startswith("remark ") for line in lines) is bool(remarks)
