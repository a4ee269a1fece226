"""Figures of Multipath TCP."""
