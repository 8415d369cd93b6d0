"""``python -m waza_language_server``: the same as the command ``waza-language-server``."""

import sys

if __name__ == "__main__":
    # `-m` puts the current folder first, and a repository may have modules of any name.
    if not sys.flags.safe_path:
        del sys.path[0]
    from waza_language_server.cli import main

    main()
