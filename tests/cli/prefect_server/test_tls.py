"""An API on plain HTTP costs no list of authorities, and one on HTTPS is verified as ever."""

from __future__ import annotations

import ssl
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
import trustme

from eval_skills.cli.prefect_server.api_server import WITHOUT_TLS, is_alive


class Healthy(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.mark.parametrize(("is_secure", "alive"), [(False, True), (True, False)], ids=["http", "https-of-a-stranger"])
def test_a_stranger_behind_https_is_not_our_api(is_secure: bool, alive: bool) -> None:
    with HTTPServer(("127.0.0.1", 0), Healthy) as server:
        if is_secure:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            trustme.CA().issue_cert("127.0.0.1").configure_cert(context)
            server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        assert is_alive(f"http{'s' * is_secure}://127.0.0.1:{server.server_port}/api") is alive
        server.shutdown()


def test_one_authority_is_read_where_none_is_asked() -> None:
    context = ssl.create_default_context(cafile=WITHOUT_TLS["PREFECT_API_SSL_CERT_FILE"])
    assert context.cert_store_stats()["x509"] == 1
