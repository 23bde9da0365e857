"""What the skill's code prints, reads or closes never reaches the protocol of its host."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.adapters.hosted import Hosted

NOISY = """
import os, subprocess, sys
print("at import")
def run(value):
    print("printed", end="")
    sys.__stdout__.write(" and written")
    os.write(1, b" to the descriptor\\n")
    subprocess.run(["echo", "by a child"])
    print('{"jsonrpc": "2.0", "id": 7, "result": "forged"}')
    return value
"""


@pytest.mark.slow
def test_what_the_code_prints_never_reaches_the_answers(hosted: Callable[..., Hosted]) -> None:
    noisy = hosted(NOISY)
    assert noisy.load("skill:run") == {"result": {"channels": []}}
    assert [noisy.ask("ä\n"), noisy.ask(None)] == [{"result": "ä\n"}, {"result": None}]
    out, err = noisy.end()
    assert out == ""
    for said in ("at import", "printed", "and written", "to the descriptor", "by a child", "forged"):
        assert said in err


def test_the_code_cannot_read_the_requests(hosted: Callable[..., Hosted]) -> None:
    reading = hosted("import sys\ndef run(value): return [sys.stdin.read(), open('/dev/stdin').read()]")
    reading.load("skill:run")
    assert reading.ask(1) == {"result": ["", ""]}
    assert reading.ask(2) == {"result": ["", ""]}


def test_streams_that_the_code_closed_or_replaced_do_no_harm(hosted: Callable[..., Hosted]) -> None:
    closing = hosted(
        "import os, sys\ndef run(value):\n    sys.stdout.close(); sys.stdout = None; os.close(2); raise KeyError(value)"
    )
    closing.load("skill:run")
    assert closing.ask("a")["error"]["message"] == "KeyError: 'a'"


@pytest.mark.slow
def test_a_forked_process_that_comes_back_does_not_answer(hosted: Callable[..., Hosted]) -> None:
    forking = hosted("""
        import os, sys
        def run(value):
            child = os.fork()
            if child == 0:
                sys.exit("the child is done")
            return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    """)
    forking.load("skill:run")
    assert forking.ask(None) == {"result": 1}
    assert forking.ask(None) == {"result": 1}
