"""The grid of rates that a search by halving tries, so that its trials can be counted before it runs."""


def halvings(low: int, high: int, resolution: int) -> int:
    """Return how many trials find the last of evenly spaced rates that is carried, or that none is.

    With 2**n - 1 rates there are 2**n answers, so that it takes n trials, neither more nor fewer: as few as
    bring the rates no further apart than the resolution.

    Args:
        low: The lowest rate.
        high: The highest, above it.
        resolution: At most the difference of the two.
    """
    steps = -(-(high - low) // resolution)
    return (steps + 1).bit_length()
