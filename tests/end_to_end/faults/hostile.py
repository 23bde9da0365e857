"""Skills that do their worst, and what must become of each, in runs below Prefect and through the command line."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

BEGINNING = """
import json, os, signal, subprocess, sys, time
def reply(result, id=None, **more):
    return json.dumps({"jsonrpc": "2.0", "id": request["id"] if id is None else id, "result": result, **more})
request = json.loads(sys.stdin.readline())
if request["params"]["do"] == "behave":
    print(reply("ok"))
    sys.exit()
"""
"""Every hostile skill answers rightly when it is told to behave: trouble with one item must not cost the next one."""

STAY = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(600)"
"""A program that no SIGTERM ends."""

ODD_FOLDER = """it's "a" $(touch owned) `touch owned`; touch owned"""


@dataclass(frozen=True, slots=True)
class Hostile:
    """A skill, and what must become of its item: the status, the error kind, and words of the reason.

    `attempts` are the error kinds of its tries in order; one that fails for good is tried once. `hangs` means that nothing
    but the deadline ends it; `note` is a file that it gets the path of.
    """

    id: str
    source: str
    status: str
    kind: str | None = None
    reason: str = ""
    attempts: tuple[str | None, ...] = ()
    hangs: bool = False
    folder: str = ""
    config: dict[str, Any] = field(default_factory=dict)

    def write(self, skills: Path, mark: str, note: Path) -> None:
        """Write its folder; every process of it carries `mark` in its environment."""
        folder = skills / (self.folder or self.id)
        folder.mkdir(parents=True)
        config = {"env": {"MARK": mark, "NOTE": str(note)}, "maxOutputBytes": 1_000_000, **self.config}
        described = {"id": self.id, "name": self.id, "version": "1.0.0", "adapterType": "subprocess"}
        entrypoint = {"entrypoint": f"{sys.executable} -ISs skill.py", "adapterConfig": config}
        (folder / "skill.json").write_text(json.dumps(described | entrypoint))
        (folder / "skill.py").write_text(self.source if self.config.get("persistent") else BEGINNING + self.source)


WARM = """
import json, os, sys
for line in sys.stdin:
    request = json.loads(line)
    answer = json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": "ok"})
    if request["params"]["do"] == "behave":
        print(answer, flush=True)
        continue
"""
"""How a program begins that stays; what follows is the body of its loop."""

HOSTILE: tuple[Hostile, ...] = (
    Hostile("healthy", "print(reply('ok'))", "pass"),
    Hostile(
        "never-answers",
        "time.sleep(600)",
        "timeout",
        "timeout",
        r"no answer within [\d.]+ s; nothing on stdout",
        attempts=("timeout", "timeout"),
        hangs=True,
    ),
    Hostile(
        "ignores-sigterm",
        f"""
signal.signal(signal.SIGTERM, signal.SIG_IGN)
stay = [sys.executable, "-ISs", "-c", {STAY!r}]
near = subprocess.Popen(stay, stdout=subprocess.PIPE)
far = subprocess.Popen(stay, stdout=subprocess.PIPE, start_new_session=True)
near.stdout.readline(), far.stdout.readline()
open(os.environ["NOTE"] + ".family", "w").write("both are up")
time.sleep(600)
""",
        "timeout",
        "timeout",
        "no answer within",
        attempts=("timeout", "timeout"),
        hangs=True,
    ),
    Hostile(
        "leaves-a-grandchild",
        f"""
subprocess.Popen([sys.executable, "-ISs", "-c", {STAY!r}], stdout=subprocess.PIPE).stdout.readline()
print(reply("ok"))
""",
        "pass",
    ),
    Hostile("answers-then-crashes", "print(reply('ok'), flush=True); os.kill(os.getpid(), signal.SIGSEGV)", "pass"),
    Hostile("answers-then-stays", "print(reply('ok'), flush=True); time.sleep(600)", "pass"),
    Hostile(
        "crashes-first",
        """
if not os.path.exists(os.environ["NOTE"]):
    open(os.environ["NOTE"], "w").close()
    print("warming up"); os.kill(os.getpid(), signal.SIGKILL)
print(reply("ok"))
""",
        "pass",
        attempts=("skill", None),
    ),
    Hostile(
        "always-crashes",
        "print('no disk', file=sys.stderr); sys.exit(3)",
        "error",
        "skill",
        r"ended without an answer \(exit code 3\).*stderr: no disk",
        attempts=("skill", "skill"),
    ),
    Hostile(
        "answers-50-mb",
        "print(reply('x' * 50_000_000))",
        "error",
        "contract",
        r"one line of output has more than 1,000,000 bytes \(maxOutputBytes\)",
    ),
    Hostile(
        "logs-50-mb",
        """
line = "x" * 9_999 + "\\n"
for _ in range(2_500):
    sys.stdout.write(line); sys.stderr.write(line)
print(reply("ok"))
""",
        "pass",
    ),
    Hostile(
        "invalid-utf-8",
        r"sys.stdout.buffer.write(reply('@').encode().replace(b'@', b'\xff\xfe'))",
        "error",
        "contract",
        r"unreadable answer: not UTF-8 \(byte \d+\)",
    ),
    Hostile(
        "invalid-utf-8-in-logs",
        """
for stream in (sys.stdout.buffer, sys.stderr.buffer):
    stream.write(bytes(range(256)) + b"\\n"); stream.flush()
print(reply("ok"))
""",
        "pass",
    ),
    Hostile(
        "half-a-json",
        "sys.stdout.write(reply('ok')[:-4])",
        "error",
        "contract",
        r"ended without an answer to id \d+ \(exit code 0\); the last line on stdout is not an answer: not a JSON object: \{",
    ),
    Hostile("wrong-id", "print(reply('ok', id=request['id'] + 1))", "error", "contract", r"its id is \d+ and \d+ was asked"),
    Hostile("two-answers", "print(reply('ok')); print(reply('wrong'))", "pass"),
    Hostile(
        "logs-between-lines",
        """
print("{'not': json}"); print('{"jsonrpc": "2.0", "method": "progress"}'); print("[1, 2"); print(); print("\\0\\x1b[31m\\r")
print(reply("ok"))
print("done.")
""",
        "pass",
    ),
    Hostile(
        "byte-by-byte",
        """
for letter in reply("ok") + "\\n":
    sys.stdout.write(letter); sys.stdout.flush(); time.sleep(0.002)
""",
        "pass",
    ),
    Hostile(
        "odd-folder",
        f"print(reply('ok' if os.path.basename(os.getcwd()) == {ODD_FOLDER!r} else os.getcwd()))",
        "pass",
        folder=ODD_FOLDER,
    ),
    Hostile(
        "deep-json",
        "print(reply(0).replace('\"result\": 0', '\"result\": ' + '[' * 100_000 + ']' * 100_000))",
        "error",
        "contract",
        "unreadable answer: nested deeper than 200 levels",
    ),
    Hostile("huge-json", "print(reply(list(range(100_000))))", "fail", None, r"expected \"ok\", got \[0, 1, 2"),
    Hostile(
        "huge-number",
        "print(reply(0).replace('\"result\": 0', '\"result\": ' + '9' * 100_000))",
        "error",
        "contract",
        "unreadable answer: .*digits",
    ),
    Hostile(
        "unstorable-text",
        "print(reply('half of a pair: \\ud800'))",
        "error",
        "contract",
        "unreadable answer: half of a surrogate pair",
    ),
    Hostile(
        "warm-and-dies-after-its-answer",
        WARM + "    print(answer, flush=True); os.kill(os.getpid(), 9)\n",
        "pass",
        config={"persistent": True},
    ),
    Hostile(
        "warm-and-floods",
        WARM + "    sys.stdout.write('x' * 50_000_000)\n",
        "error",
        "contract",
        "one line of output has more than 1,000,000 bytes",
        config={"persistent": True},
    ),
    Hostile(
        "warm-and-answers-the-next",
        WARM
        + "    print(answer.replace('ok', 'wrong').replace(f'\"id\": {request[\"id\"]}', f'\"id\": {request[\"id\"] + 1}'))\n"
        "    print(answer, flush=True)\n",
        "pass",
        config={"persistent": True},
    ),
    Hostile(
        "closes-its-streams",
        "os.close(0); os.close(1); os.close(2); time.sleep(600)",
        "timeout",
        "timeout",
        "no answer within",
        attempts=("timeout", "timeout"),
        hangs=True,
    ),
    Hostile(
        "stops-itself",
        "os.kill(os.getpid(), signal.SIGSTOP); time.sleep(600)",
        "timeout",
        "timeout",
        "no answer within",
        attempts=("timeout", "timeout"),
        hangs=True,
    ),
)


def write_all(skills: Path, mark: str, notes: Path, wanted: Callable[[Hostile], bool] = lambda _: True) -> Sequence[Hostile]:
    """Write the folders of those that are wanted."""
    notes.mkdir(parents=True, exist_ok=True)
    chosen = [each for each in HOSTILE if wanted(each)]
    for each in chosen:
        each.write(skills, mark, notes / each.id)
    return chosen
