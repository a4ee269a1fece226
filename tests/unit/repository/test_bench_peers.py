"""What the peers of the benchmark print is read as they print it: the files are their real output."""

from pathlib import Path

import pytest

from against.contender import Sending
from against.iperf2 import Iperf2
from against.iperf3 import Iperf3, iperf3_peers
from against.nuttcp import Nuttcp
from against.tool import version_in

SAID = Path(__file__).parent / "said_by_peers"
SENDING = Sending(flows=4, length_bytes=262_144, seconds=3.9)


@pytest.mark.parametrize(
    ("file", "received_bps"), [("iperf3-3.12.json", 34_839_046_779), ("iperf3-3.21.json", 45826162494)]
)
def test_iperf3_says_what_its_receiver_got(file: str, received_bps: float) -> None:
    assert Iperf3().received_bps(said(file), "") == pytest.approx(received_bps)


def test_an_error_of_iperf3_is_told() -> None:
    with pytest.raises(ValueError, match="unable to connect to server"):
        Iperf3().received_bps(said("iperf3-refused.json"), "")


def test_iperf3_with_another_congestion_control_does_not_count() -> None:
    with pytest.raises(ValueError, match="reno in place of cubic"):
        Iperf3().received_bps(said("iperf3-3.21.json").replace('"cubic"', '"reno"'), "")


@pytest.mark.parametrize(
    ("file", "received_bps"),
    [("iperf2-server-1.txt", 59_309_007_944), ("iperf2-server-4.txt", 71005274212)],
)
def test_the_server_of_iperf2_says_what_it_got(file: str, received_bps: float) -> None:
    assert Iperf2().received_bps("", said(file)) == received_bps


def test_a_server_of_iperf2_that_got_nothing_says_no_rate() -> None:
    text = said("iperf2-server-4.txt").partition("[ ID]")[0]
    with pytest.raises(ValueError, match="names no rate"):
        Iperf2().received_bps("", text)


def test_nuttcp_says_what_its_receiver_got() -> None:
    assert Nuttcp().received_bps(said("nuttcp.txt"), "") == pytest.approx(13_325_224_600)


def test_a_nuttcp_that_reached_nobody_says_no_rate() -> None:
    with pytest.raises(ValueError, match="names no rate"):
        Nuttcp().received_bps(said("nuttcp-refused.txt"), "")


def test_tools_that_take_whole_seconds_only_send_longer_rather_than_shorter() -> None:
    client = Iperf3().client("iperf3", "198.18.0.1", SENDING, ("-Z",))
    assert client[client.index("-t") + 1] == "4"
    assert "-T4" in Nuttcp().client("nuttcp", "198.18.0.1", SENDING, ())


def test_who_can_name_the_congestion_control_does() -> None:
    assert "-C cubic" in " ".join(Iperf3().client("iperf3", "198.18.0.1", SENDING, ()))
    assert "-Z cubic" in " ".join(Iperf2().client("iperf", "198.18.0.1", SENDING, ()))


def test_a_program_that_is_not_there_is_no_peer() -> None:
    assert iperf3_peers("/nowhere/iperf3") == []


def test_a_version_is_told_from_that_of_another_program() -> None:
    assert version_in("iperf 3.21 (cJSON 1.7.15)", r"^iperf (3\S*)") == "3.21"
    assert version_in("iperf version 2.1.8 (12 August 2022) pthreads", r"^iperf (3\S*)") is None


def said(file: str) -> str:
    return (SAID / file).read_text(encoding="utf-8")
