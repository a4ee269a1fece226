"""Figures of TCP."""
