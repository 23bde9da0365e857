"""The calculator with a pause before each answer, to give latency something to show."""

import json
import sys
import time
from pathlib import Path

# The arithmetic is the calculator's own: this skill differs only in the time it takes.
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "calculator"))
from jsonrpc import reply  # noqa: E402

PAUSE_S = 0.15

for line in sys.stdin:
    time.sleep(PAUSE_S)
    print(json.dumps(reply(json.loads(line))), flush=True)
