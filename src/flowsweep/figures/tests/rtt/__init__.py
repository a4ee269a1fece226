"""Figures of round-trip times."""
