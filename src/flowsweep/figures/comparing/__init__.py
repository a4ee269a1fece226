"""Figures of two campaigns, or of two settings of one, against each other."""
