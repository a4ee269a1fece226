"""Figures of single tests, one folder a test."""
