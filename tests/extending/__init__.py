"""One small addition of each sort, written as `docs/howto` describes it."""
