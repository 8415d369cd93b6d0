"""A model with OpenAI's chat completions, and its tools: the parts of ``openai``."""
