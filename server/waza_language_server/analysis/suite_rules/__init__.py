"""Rules about what other files say."""
