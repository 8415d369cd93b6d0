"""Executors, which execute a task's prompt.

``base`` defines what an executor is, ``registry`` lists them by name, and each has one main file: ``mock``;
``replay``, answers from ``recorded_answers``; ``command`` with its parts in ``adapter``; ``copilot_sdk`` with
``copilot``; and ``openai`` with ``chat``.
"""
