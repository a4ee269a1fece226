"""What headers take of a packet."""

IPV4_HEADER_BYTES = 20
IPV6_HEADER_BYTES = 40
TCP_HEADER_BYTES = 20
UDP_HEADER_BYTES = 8
TIMESTAMPS_BYTES = 12
"""The option of RFC 7323 with its padding, which Linux puts into every segment."""

MPTCP_OPTION_BYTES = 28
"""Multipath TCP's in a segment with data: numbers of 8 bytes for data and acknowledgement, padded (RFC 8684,
section 3.3)."""

QUIC_PACKET_EXTRA_BYTES = 35
"""Of a full datagram: a short header with a connection ID of 8 bytes, a tag of 16 bytes, and the header of a
STREAM frame (RFC 9000, sections 17.3 and 19.8; RFC 9001, section 5.3)."""

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
    return _NETWORK_BYTES[family] + TCP_HEADER_BYTES + (TIMESTAMPS_BYTES if timestamps else 0)


def udp_header_bytes(family: int) -> int:
    """Bytes of a datagram's packet that are no payload of UDP: IP (4 or 6) and UDP (RFC 768)."""
    return _NETWORK_BYTES[family] + UDP_HEADER_BYTES


_NETWORK_BYTES = {4: IPV4_HEADER_BYTES, 6: IPV6_HEADER_BYTES}
