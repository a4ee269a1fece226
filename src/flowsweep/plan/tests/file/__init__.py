"""Keys of sweeps that carry files, and what must agree in them."""
