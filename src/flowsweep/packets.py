"""What headers take of a packet."""

IPV4_HEADER_BYTES = 20
IPV6_HEADER_BYTES = 40
TCP_HEADER_BYTES = 20
TIMESTAMPS_BYTES = 12
"""The option of RFC 7323 with its padding, which Linux puts into every segment."""

TLS_RECORD_BYTES = 16_384
"""Application bytes of a full record of TLS 1.3 (RFC 8446, section 5.1)."""
TLS_RECORD_EXTRA_BYTES = 22
"""What a record is more: its header, its kind and the tag of AES-GCM."""


def in_tls_records(length_bytes: int) -> int:
    """How many bytes of TLS 1.3 so many application bytes are that are written at once."""
    records = -(-length_bytes // TLS_RECORD_BYTES)
    return length_bytes + records * TLS_RECORD_EXTRA_BYTES


def header_bytes(family: int, *, timestamps: bool = True) -> int:
    """Bytes of a full packet that are no payload: IP and TCP.

    Args:
        family: 4 or 6.
        timestamps: Whether segments carry the option of RFC 7323.

    Source: RFC 791, RFC 8200, RFC 9293, RFC 7323.
    """
    network = {4: IPV4_HEADER_BYTES, 6: IPV6_HEADER_BYTES}[family]
    return network + TCP_HEADER_BYTES + (TIMESTAMPS_BYTES if timestamps else 0)
