"""What carries out a task's prompt.

``base`` says what an executor is, ``registry`` knows them by name, and each starts in one file: ``mock``;
``replay``, answers from ``recorded_answers``; ``command`` with its parts in ``adapter``; ``copilot_sdk`` with
``copilot``; and ``openai`` with ``chat``.
"""
