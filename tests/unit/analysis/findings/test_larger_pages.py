"""Advice for hosts whose kernels may have pages that are larger than 4 KiB."""

from typing import Any

import pytest

from flowsweep.analysis.findings.host_settings import capped, most_buffer_bytes

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
