"""The calculator as an HTTP service: ``POST /invoke`` with {skillId, version, input}, and ``GET /health``."""

import argparse
import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

# The arithmetic is the calculator's own: this skill differs only in how it is called.
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "calculator"))
from arithmetic import BadInput, answer  # noqa: E402


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # connections stay open between calls
    disable_nagle_algorithm = True  # headers and body leave at once, not 40 ms apart

    def do_GET(self):
        self._send(*((200, {"status": "ok"}) if self.path == "/health" else (404, {"error": "no such path"})))

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path != "/invoke":
            self._send(404, {"error": "no such path"})
            return
        try:
            self._send(200, {"result": answer(json.loads(body)["input"])})
        except (BadInput, KeyError, TypeError, json.JSONDecodeError) as error:
            self._send(422, {"error": str(error)})

    def _send(self, status, value):
        content = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        """One line per request would drown the evaluation's own output."""


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=8765)
    ThreadingHTTPServer(("127.0.0.1", parser.parse_args().port), Handler).serve_forever()
