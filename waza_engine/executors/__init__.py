"""What carries out a task's prompt.

``base`` says what an executor is, ``registry`` knows them by name, and each starts in one file: ``mock``;
``replay``, answers from ``recorded_answers``; ``command``, any program that an adapter file describes, with
``adapter_*`` and ``agent_process``; ``copilot_sdk`` with ``copilot_*``; and ``openai_chat`` with ``openai_*``
and the tools that it offers itself: ``workspace_tools``, ``mcp_tools`` and ``skill_tool``.
"""
