"""What a plan's points should reach before a packet is sent, by a fluid model of TCP and QUIC."""
