"""Figures of UDP."""
