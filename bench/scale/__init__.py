"""What bench/analysis_scale.py is made of."""
