"""When a campaign's sweeps run: keys of a plan, what must agree in them, what becomes of them."""
