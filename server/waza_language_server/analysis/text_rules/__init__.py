"""Rules about the text as YAML: one problem for each typo, with the text that was intended."""
