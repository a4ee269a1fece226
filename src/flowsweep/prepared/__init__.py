"""Statements of the analysis that were written before, for DuckDB alone: Ibis takes longer than they do."""
