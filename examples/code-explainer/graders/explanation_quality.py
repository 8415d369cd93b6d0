"""Grade an explanation by its words: ``explanation_quality.py WORD…`` reads the answer on standard input.

Exit code 0 when the answer has at least one of the words, 1 otherwise. What is printed becomes the grader's
feedback.
"""

import sys


def main() -> int:
    """Return the exit code of the verdict."""
    answer = sys.stdin.read()
    words = [word for word in sys.argv[1:] if word.lower() in answer.lower()]
    if not answer.strip():
        print("The answer is empty.", file=sys.stderr)
        return 1
    if not words:
        print(f"None of {', '.join(sys.argv[1:])} is explained.", file=sys.stderr)
        return 1
    print(f"Explains {', '.join(words)}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
