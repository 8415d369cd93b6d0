"""Values: those that do not fit, and those that fit and can hardly be meant."""
