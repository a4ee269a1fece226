"""The statistics of repeats: designs, least squares, means, noise."""
