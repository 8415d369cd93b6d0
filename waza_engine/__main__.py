"""``python -m waza_engine``: the same as the command ``waza-engine``."""

from __future__ import annotations

from waza_engine.cli import main

if __name__ == "__main__":
    main()
