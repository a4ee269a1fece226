"""Figures of paths."""
