"""What each test's points are to the model: one file per test that has a model, one row in `registry.py`."""
