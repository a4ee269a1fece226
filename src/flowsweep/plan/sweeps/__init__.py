"""`[[sweep]]`: its table, what must agree in it, and what becomes of it."""
