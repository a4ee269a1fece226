"""Packet-level simulation of single settings by ns-3, where it is installed: in a process of its own."""
