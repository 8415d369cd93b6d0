"""What answers are compared with: texts, patterns, sequences, arguments, JSON Schemas."""
