"""Rules about the text as YAML: one problem a slip of the pen, and what its author wanted to write."""
