"""Figures of trials of files."""
