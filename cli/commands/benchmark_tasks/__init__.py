"""``eval-skills benchmarks lint``, ``generate`` and ``review``: making tasks, and finding out whether they are any good."""
