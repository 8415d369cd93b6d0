"""``python -m waza_engine``: the same as the command ``waza-engine``."""

from __future__ import annotations

import sys

if __name__ == "__main__":
    # `-m` puts the current folder first, and a repository may have modules of any name.
    if not sys.flags.safe_path:
        del sys.path[0]
    from waza_engine.cli import main

    main()
