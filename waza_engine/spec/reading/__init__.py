"""How the files of a suite become data: their text, what YAML and JSON say in it, which files there are."""
