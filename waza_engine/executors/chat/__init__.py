"""A model behind OpenAI's chat completions, and its tools: the parts of ``openai``."""
