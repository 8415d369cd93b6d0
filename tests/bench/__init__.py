"""Our server beside yaml-language-server, measured in one interleaved run: ``make bench``."""
