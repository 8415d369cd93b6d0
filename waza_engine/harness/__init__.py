"""The files and commands of agent-eval-harness: prompts, captures, trials, and pipelines that grade them."""
