"""Plans of meshes of real hosts, for tests of what runs at the same time."""

from collections.abc import Mapping, Sequence

from flowsweep.plan import Plan, parse_plan


def mesh_plan(
    groups: Mapping[str, Sequence[str]],
    paths: str,
    *,
    concurrent: int = 1000,
    more: str = "",
    keys: str = 'duration = "5s"',
    campaign: str = "",
) -> Plan:
    """A plan between hosts of groups; `more` are tables of its own, `keys` those of its sweep."""
    names = dict.fromkeys(name for members in groups.values() for name in members)
    hosts = "".join(
        f'[hosts.{name}]\naddress = "192.0.2.{number % 250 + 1}"\n' for number, name in enumerate(names)
    )
    lists = "".join(f"{name} = {list(members)}\n" for name, members in groups.items())
    return parse_plan(
        f"[campaign]\nconcurrent = {concurrent}\n{campaign}\n{hosts}[groups]\n{lists}{more}\n"
        f"[[sweep]]\npaths = [{paths}]\n{keys}\n",
        "mesh.toml",
    )


def names(count: int, letter: str = "h") -> list[str]:
    """Names of hosts."""
    return [f"{letter}{number}" for number in range(count)]
