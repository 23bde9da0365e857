"""The calculator as a program that reads its input to the end, answers once, and exits."""

import json
import sys
from pathlib import Path

# The arithmetic is the calculator's own: this skill differs only in how it is called.
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "calculator"))
from jsonrpc import reply  # noqa: E402

print(json.dumps(reply(json.loads(sys.stdin.read()))))
