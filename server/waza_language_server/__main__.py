"""``python -m waza_language_server``: the same as the command ``waza-language-server``."""

from waza_language_server.cli import main

if __name__ == "__main__":
    main()
