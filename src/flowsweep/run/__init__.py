"""Carry a campaign out: trial by trial, through sessions with engines."""
