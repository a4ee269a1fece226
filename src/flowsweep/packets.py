"""What headers take of a packet."""

IPV4_HEADER_BYTES = 20
IPV6_HEADER_BYTES = 40
TCP_HEADER_BYTES = 20
TIMESTAMPS_BYTES = 12
"""The option of RFC 7323 with its padding, which Linux puts into every segment."""


def header_bytes(family: int, *, timestamps: bool = True) -> int:
    """Bytes of a full packet that are no payload: IP and TCP.

    Args:
        family: 4 or 6.
        timestamps: Whether segments carry the option of RFC 7323.

    Source: RFC 791, RFC 8200, RFC 9293, RFC 7323.
    """
    network = {4: IPV4_HEADER_BYTES, 6: IPV6_HEADER_BYTES}[family]
    return network + TCP_HEADER_BYTES + (TIMESTAMPS_BYTES if timestamps else 0)
