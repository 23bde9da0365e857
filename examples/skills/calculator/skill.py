"""A calculator that stays up: it answers one JSON-RPC request per line until its input ends."""

import json
import sys

from jsonrpc import reply

for line in sys.stdin:
    print(json.dumps(reply(json.loads(line))), flush=True)
