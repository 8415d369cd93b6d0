"""``compare``: several runs of the same prompts, which are captures or trials."""
