"""The code blocks of the documentation as a program: what a page's commands print, run in the order of the page.

A page is run in a folder of its own that keeps its files, its current folder and its exported variables from block to block.

| in the page | means |
|---|---|
| a fence ``bash`` or ``python`` | is run |
| a fence with ``title="a/file.json"`` | is written to that file |
| a fence ``text`` right after a block that was run | is what the block printed |
| ``<!-- not run: reason -->`` before a block | it is not run |
| ``<!-- shown: reason -->`` before a ``text`` | no block of this page printed it |
| ``<!-- exit: 1 -->`` before a block | it ends with this exit code |
| a comment that begins with ``run`` and a line break | its commands are run and not shown |
| ``<!-- quick -->`` | the page is run by ``make test``, not only by the slow tests |
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
GENERATED = "<!-- Written by docs/generate.py"

MARK = re.compile(r"^ *<!-- (?P<key>not run|shown|exit): (?P<value>.*?) -->$")
FENCE = re.compile(r"^(?P<indent> *)```(?P<language>\w*)(?: title=\"(?P<title>[^\"]+)\")?$")
PROGRESS = re.compile(r"^\d+/\d+ done: ")
QUICK = "<!-- quick -->"
LONGEST_S = 300


@dataclass(frozen=True)
class Block:
    """A fenced block, or a hidden one (`language` is ``hidden``), with the marks before it. `line` is that of its first line."""

    page: Path
    line: int
    language: str
    text: str
    title: str = ""
    marks: Mapping[str, str] = field(default_factory=dict)
    indent: str = ""
    follows: bool = False
    """Nothing but marks and blank lines stand between the block before and this one."""

    @property
    def is_run(self) -> bool:
        return self.language in ("bash", "python", "hidden") and not self.title and "not run" not in self.marks

    @property
    def place(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


@dataclass(frozen=True)
class Step:
    """A block that is run or written, and the block that shows what it prints."""

    block: Block
    output: Block | None = None


def written_pages() -> list[Path]:
    """The pages that people write: not those that `generate` makes."""
    return [page for page in PAGES if not page.read_text(encoding="utf-8").startswith(GENERATED)]


def blocks_of(page: Path) -> list[Block]:
    """The blocks of a page in their order.

    Raises:
        ValueError: a fence or a comment has no end, or a fence says what is not known.
    """
    return list(_blocks(page, page.read_text(encoding="utf-8").splitlines()))


def _blocks(page: Path, lines: list[str]) -> Iterator[Block]:
    marks: dict[str, str] = {}
    place, follows = 0, False
    while place < len(lines):
        line = lines[place]
        place += 1
        if mark := MARK.match(line):
            marks[mark["key"]] = mark["value"]
        elif line == "<!-- run":
            end = _end(page, lines, place, "-->")
            yield Block(page, place + 1, "hidden", "\n".join(lines[place:end]), marks=marks)
            marks, place = {}, end + 1
        elif fence := FENCE.match(line):
            end = _end(page, lines, place, f"{fence['indent']}```")
            text = "\n".join(each.removeprefix(fence["indent"]) for each in lines[place:end])
            yield Block(page, place + 1, fence["language"], text, fence["title"] or "", marks, fence["indent"], follows)
            marks, place, follows = {}, end + 1, True
        elif line.lstrip().startswith("```"):
            raise ValueError(f"{page}:{place}: {line!r} is not a fence of this documentation; see docs/blocks.py")
        elif line.strip():
            marks, follows = {}, False


def _end(page: Path, lines: list[str], start: int, last: str) -> int:
    for place in range(start, len(lines)):
        if lines[place] == last:
            return place
    raise ValueError(f"{page}:{start}: the block has no end {last!r}")


def steps_of(page: Path) -> list[Step]:
    """What is to be done for a page, each with the output that follows it."""
    steps: list[Step] = []
    for block in blocks_of(page):
        if block.is_run or block.title:
            steps.append(Step(block))
        elif block.language == "text" and "shown" not in block.marks and block.follows and steps and steps[-1].block.is_run:
            steps[-1] = replace(steps[-1], output=block)
    return steps


INTERPRETER = """
import ast, asyncio, inspect, json, sys, traceback
names = {"__name__": "__main__"}
for line in sys.stdin:
    try:
        text, place = json.loads(line)
        code = compile(text, place, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        waiting = eval(code, names)
        if inspect.iscoroutine(waiting):
            asyncio.run(waiting)
        result = 0
    except BaseException:
        traceback.print_exc()
        result = 1
    print(f"\\x04{result}", flush=True)
"""
"""Runs one Python block after the other with the names of those before it; a line with a control character ends each."""


_NOT_OURS = ("EVAL_SKILLS_", "PYTEST_", "GITHUB_", "CI", "BUILD_NUMBER")
"""Variables that change what is printed: a reader's terminal is not a CI system."""


@dataclass
class Workplace:
    """A folder in which the blocks of one page are run; the Python blocks share their names."""

    folder: Path
    variables: Mapping[str, str]
    interpreter: Sequence[str] = (sys.executable, "-u")
    _python: subprocess.Popen[str] | None = None

    @property
    def project(self) -> Path:
        return self.folder / "project"

    def prepare(self) -> None:
        """An empty project, and a home folder."""
        for name in ("project", "home", "state"):
            (self.folder / name).mkdir(parents=True)
        (self.folder / "state" / "cwd").write_text(str(self.project), encoding="utf-8")

    def run(self, block: Block) -> str:
        """What the block prints, both streams in the order of their lines; a block with a title is written to its file.

        Raises:
            AssertionError: it ended with another exit code than the page says.
        """
        if block.title:
            target = self._cwd / block.title
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(block.text + "\n", encoding="utf-8")
            return ""
        code, printed = self._run_python(block) if block.language == "python" else self._run_bash(block)
        wanted = int(block.marks.get("exit", 0))
        assert code == wanted, f"{block.place}: exit code {code}, not {wanted}\n{printed}"
        return self._impersonal(printed)

    def close(self) -> None:
        """End the interpreter of the Python blocks."""
        if self._python is not None:
            self._python.communicate(timeout=LONGEST_S)

    def _run_bash(self, block: Block) -> tuple[int, str]:
        done = subprocess.run(
            ["bash", "-c", self._script(block.text)], cwd=self._cwd, env=self._environment(), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=LONGEST_S,
        )  # fmt: skip
        return done.returncode, done.stdout

    def _run_python(self, block: Block) -> tuple[int, str]:
        if self._python is None:
            self._python = subprocess.Popen(
                [*self.interpreter, "-c", INTERPRETER], cwd=self._cwd, env=self._environment(), stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            )  # fmt: skip
        asked, answer = self._python.stdin, self._python.stdout
        assert asked is not None
        assert answer is not None
        asked.write(json.dumps([block.text, block.place]) + "\n")
        asked.flush()
        printed = ""
        for line in answer:
            text, end, code = line.partition("\x04")
            printed += text
            if end:
                return int(code), printed
        return self._python.wait(LONGEST_S), printed

    @property
    def _cwd(self) -> Path:
        return Path((self.folder / "state" / "cwd").read_text(encoding="utf-8").strip())

    def _script(self, text: str) -> str:
        state = self.folder / "state"
        keep = f"code=$?; pwd >{state}/cwd; export -p >{state}/variables; exit $code"
        return f"[ ! -f {state}/variables ] || . {state}/variables\nset -eo pipefail\ntrap '{keep}' EXIT\n{text}\n"

    def _environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(_NOT_OURS)}
        return {
            **kept,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(self.folder / "home"),
            "COLUMNS": "110",
            "NO_COLOR": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
            "REPOSITORY": str(ROOT),
            **self.variables,
        }

    def _impersonal(self, text: str) -> str:
        for found, shown in (
            (self.project, "~/project"),
            (self.folder / "home", "~"),
            (ROOT, "~/eval-skills"),
            (self.variables.get("PREFECT_API_URL", "http://127.0.0.1:4200/api").removesuffix("/api"), "http://127.0.0.1:4200"),
        ):
            text = text.replace(str(found), shown)
        return "\n".join(line.rstrip() for line in text.rstrip().splitlines() if not PROGRESS.match(line))


CHANGING = [
    # pages in Prefect's UI, of which docs/explanation/prefect-ui.md says where they are printed
    (re.compile(r"(?m)^prefect http\S+\n?"), ""),
    (re.compile(r"/runs/flow-run/[0-9a-f-]{36}"), ""),
    (re.compile(r"\d{8}T\d{6}Z-[0-9a-f]{4}"), "RUN"),
    (re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d[:-]\d\d(?:[:-]\d\d(?:[.-]\d+)?)?Z?)?"), "TIME"),
    (re.compile(r"127\.0\.0\.1:\d+"), "ADDRESS"),
    (re.compile(r"\bpython 3\.\d+\.\d+"), "PYTHON"),
    (re.compile(r"\b[0-9.,]+ ?(?:ms|s|min)\b(?: \(\d+:\d\d:\d\d\))?"), "DURATION"),
    (re.compile(r"\b[01]\.\d{4,6}\b"), "NUMBER"),
    (re.compile(r"NUMBER +\d$", re.MULTILINE), "NUMBER"),  # the selection of skills that only times tell apart
    (re.compile(r"(?m)^  time: .* → .*"), "  time: TIMES"),  # whether they are proven to differ is chance, too
    (re.compile(r"\bsha256:[0-9a-f]{64}\b"), "DIGEST"),
    (re.compile(r"@0\.0\.\d{6,}\b"), "@VERSION"),  # of an import: the digest of files that hold durations
    (re.compile(r"cannot tell \S+ from"), "cannot tell SKILL from"),
    (re.compile(r"(?m)^best trade-offs of .*"), "TRADE-OFFS"),
    (re.compile(r"\b[0-9a-f]{12}\b"), "ID"),
    (re.compile(r"[▁▂▃▄▅▆▇█]+"), "CURVE"),
    (re.compile(r"(?m)^(?:P\d\d|composite|latency) +.*"), "LATENCY"),
    (re.compile(r"\b[0-9a-f]{40}\b"), "COMMIT"),
    (re.compile(r"[─━-]{3,}"), "LINE"),
    (re.compile(r"(?m)^ *\d+ (?= )"), ""),
    (re.compile(r"[ \t]+"), " "),
]
"""What differs from run to run, and what stands for it in a comparison."""


def lasting(text: str) -> list[str]:
    """The lines of an output without times, ids and the order of lines, which may follow times: equal for equal outputs."""
    for changing, word in CHANGING:
        text = changing.sub(word, text)
    return sorted(line.strip() for line in text.splitlines() if line.strip())
