"""The engine of waza evaluation suites: models, graders, executors, runs, scores and results.

Architecture invariant: nothing here imports ``pygls``, ``lsprotocol`` or ``waza_language_server``, and
importing this package itself loads nothing heavy.
"""

__version__ = "0.1.0"
