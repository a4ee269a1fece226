"""Advice for hosts whose kernels may have pages that are larger than 4 KiB."""

from typing import Any

import pytest

from flowsweep.analysis.findings.advice import window_advice
from flowsweep.analysis.findings.host_settings import capped, most_buffer_bytes
from limited_trials import KIB, trial

MAY = " (in pages of 4 KiB; a kernel for {} may have larger ones)"


def facts(architecture: str | None) -> dict[str, Any]:
    told = {} if architecture is None else {"architecture": architecture}
    return {"sysctls": {"net.ipv4.tcp_mem": "1 1 4000"}, **told}


@pytest.mark.parametrize("architecture", ["x86_64", "aarch64", "ppc64le", None])
def test_memory_is_taken_to_have_the_smallest_pages_that_it_may(architecture: str | None) -> None:
    """What is too little does no harm; with 64 KiB a quarter would be sixteen times as much."""
    hosts = {"a": facts(architecture)}
    assert most_buffer_bytes(hosts, "a", 1) == 1000 * 4096
    may = MAY.format(architecture) if architecture in ("aarch64", "ppc64le") else ""
    assert capped(2_000_000, hosts, ("a",)) == (
        "should let about 2 MB be in flight: more would be over a quarter of what net.ipv4.tcp_mem lets all "
        f"connections have{may}"
    )


def test_of_two_hosts_each_kind_is_named_once() -> None:
    hosts = {"a": facts("aarch64"), "b": facts("x86_64"), "c": facts("aarch64"), "d": facts("ppc64le")}
    assert capped(2_000_000, hosts, ("a", "b", "c")).endswith(f"have{MAY.format('aarch64')}")
    assert capped(2_000_000, hosts, tuple("abcd")).endswith(f"have{MAY.format('aarch64 or ppc64le')}")
    assert capped(2_000_000, hosts, ("b",)).endswith("have")
    assert capped(2_000_000, None, ("a", "b")).endswith("have")


@pytest.mark.parametrize(("x86_pages", "may"), [(8000, ""), (4_000_000, MAY.format("aarch64"))])
def test_pages_of_a_host_that_has_enough_are_not_spoken_of(x86_pages: int, may: str) -> None:
    """One window is asked for at both ends, and one of them has too little memory for it."""
    sysctls = {"net.core.rmem_max": "212992", "net.core.wmem_max": "212992"}
    pages = {"slac": x86_pages, "in2p3": 8000 if may else 4_000_000}
    hosts = {
        host: {"sysctls": sysctls | {"net.ipv4.tcp_mem": f"1 1 {most}"}, "architecture": architecture}
        for (host, most), architecture in zip(pages.items(), ("x86_64", "aarch64"), strict=True)
    }
    row = trial(rtt_min_ms=700.0, window_recv_bytes=256 * KIB)
    advice = window_advice(row, path_bps=96.53e6, hosts=hosts)
    assert advice is not None
    assert advice.sentence.endswith(f"net.ipv4.tcp_mem lets all connections have{may}.")
