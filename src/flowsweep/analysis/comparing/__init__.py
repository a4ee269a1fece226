"""Two campaigns beside each other: points that both have, shifts, and what speaks against them."""
