"""Convert suites between waza, ``evals.json`` and Vally, with a list of what is lost."""
