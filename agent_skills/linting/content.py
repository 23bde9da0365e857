"""What the text of a skill's files must not hold: keys, the home of one person, remote code that is run, quotations in tests."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator

from eval_skills.agent_skills.linting.finding import Finding
from eval_skills.agent_skills.linting.package import lines_of
from eval_skills.agent_skills.linting.subject import Subject
from eval_skills.agent_skills.skill_text import Field, Items, Place, Scalar
from eval_skills.core.text import excerpt, plural

_KEYS: dict[str, str] = {
    "an AWS access key": r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b",
    "a GitHub token": r"\b(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{50,255})\b",
    "a GitLab token": r"\bglpat-[A-Za-z0-9_-]{20,100}",
    "an Anthropic or OpenAI key": r"\bsk-[A-Za-z0-9_-]{20,200}",
    "a Slack token": r"\bxox[abprs]-[A-Za-z0-9-]{10,200}",
    "a Google API key": r"\bAIza[0-9A-Za-z_-]{35}",
    "a Stripe key": r"\b[rs]k_live_[0-9A-Za-z]{20,100}",
    "an npm token": r"\bnpm_[A-Za-z0-9]{36}\b",
    "a Hugging Face token": r"\bhf_[A-Za-z0-9]{30,100}\b",
    "a private key": r"-----BEGIN (?:[A-Z]{2,12} ){0,3}PRIVATE KEY-----",
    "a signed token": r"\beyJ[A-Za-z0-9_-]{10,2000}\.eyJ[A-Za-z0-9_-]{10,2000}\.[A-Za-z0-9_-]{10,500}",
    "a password in an address": r"\b[a-z][a-z0-9+]{1,15}://[^\s/:@\"'<>]{1,80}:[^\s/@\"'<>{}$]{6,80}@",
    "a key or password": (
        r"(?i:\b(?:api[_-]?key|secret|token|passw(?:or)?d)\b[\"']?\s{0,5}[:=]\s{0,5})[\"'][^\"'\s<>{}$]{16,200}[\"']"
    ),
}
_KEY = re.compile("|".join(f"(?P<k{number}>{pattern})" for number, pattern in enumerate(_KEYS.values())))
_EXAMPLE = re.compile(r"(?i)example|placeholder|dummy|your|xxxx|\*\*\*|\.\.\.|1234567890|abcdef|changeme|redacted|test|fake")
_RANDOM = 8
"""A key has at least so many different characters, and a digit among them; a placeholder seldom does."""

_HOME = re.compile(r"(?<![\w.~-])(?:/home/|/Users/|[A-Za-z]:\\{1,2}Users\\{1,2})([\w.-]{1,64})(?=[\\/])")
_ANYBODY = frozenset(
    {"user", "username", "users", "you", "your", "yourname", "your-name", "your_name", "me", "name", "someone", "runner",
     "shared", "public", "ubuntu", "node", "vscode", "alice", "bob", "linuxbrew"}
)  # fmt: skip

_FETCH = r"\b(?:curl|wget|fetch|irm|iwr|Invoke-WebRequest|Invoke-RestMethod)\b"
_RUN = (
    r"(?:sudo\s{1,5}(?:-\S{1,20}\s{1,5}){0,3})?(?:env\s{1,5})?(?:/\S{0,60}/)?(?:(?:ba|z|da|k|fi)?sh|python3?|node|perl|ruby|php|iex"
    r"|Invoke-Expression)\b(?![./-])"
)
_REMOTE = re.compile(
    rf"{_FETCH}[^\n]{{0,400}}?\|\s{{0,5}}{_RUN}"
    rf"|\b(?:(?:ba|z|da)?sh|source|eval|exec|iex)\b[^\n|;]{{0,60}}?(?:<\(|\$\(|`|\()\s{{0,5}}{_FETCH}"
    rf"|(?:exec|eval)\(\s{{0,5}}[^\n]{{0,80}}?(?:requests\.get|urlopen|httpx\.get)\("
    rf"|(?:iex|Invoke-Expression)\b[^\n]{{0,120}}?DownloadString",
    re.IGNORECASE,
)

_TOOL = re.compile(r"([\w*.-]+)(?:\(([^()]*)\))?")
_SHELLS = frozenset(
    {"bash", "shell", "sh", "zsh", "powershell", "pwsh", "cmd", "terminal", "exec", "run_shell_command", "run_command",
     "execute_command", "*"}
)  # fmt: skip
_ANY_COMMAND = re.compile(r"^(|\*|:\*|\*:\*|\*\*|(?:(?:ba|z|da)?sh|sudo|eval|exec|env|xargs)(?:[: ].*)?)$")

QUOTED_WORDS = 12
"""So many words in a row that are the skill's own are a quotation."""

MAX_COMPARED_CHARS = 200_000
"""So much of the skill's own text, and of all its tests together, is compared."""

_WORD = re.compile(r"\w+")
_EVALS = "evals/"


def content_findings(subject: Subject) -> Iterator[Finding]:
    """What the files hold; ``SKILL.md`` is one of them. `unread` files are named in one note."""
    yield from shell_findings(subject)
    for path, text in {**subject.package.texts, subject.file: subject.text.text}.items():
        yield from _secrets(path, text)
        yield from _remote_code(path, text)
        if not path.startswith(_EVALS):
            yield from _homes(path, text)
    yield from _quotations(subject)
    if unread := [path for path in subject.package.unread if path != subject.file]:
        files = f"{plural(len(unread), 'file')} {'was' if len(unread) == 1 else 'were'}"
        message = f"{files} not looked at for keys, remote code and quotations, among them {excerpt(unread[0], 80)}"
        yield Finding("not-read", message, "a skill should be small; remove what it does not need")


def _secrets(path: str, text: str) -> Iterator[Finding]:
    for found in _KEY.finditer(text):
        kind = list(_KEYS)[int((found.lastgroup or "k0")[1:])]
        body = found[0]
        looks_real = kind == "a private key" or (len(set(body)) >= _RANDOM and any(letter.isdigit() for letter in body))
        if looks_real and not _EXAMPLE.search(body):
            message = f"{kind} stands here: {body[:4]}… ({len(body)} characters)"
            fix = "remove it, revoke it, and read it from an environment variable"
            yield Finding("secret", message, fix, path, _place(text, found.start()))


def _homes(path: str, text: str) -> Iterator[Finding]:
    for found in _HOME.finditer(text):
        if found[1].lower().strip(".") not in _ANYBODY:
            message = f"{found[0]} is the home folder of one person"
            yield Finding(
                "home-path", message, "write a relative path, or take it as an argument", path, _place(text, found.start())
            )


def _remote_code(path: str, text: str) -> Iterator[Finding]:
    for number, line in lines_of(text):
        for start in range(0, min(len(line), 20_000), 10_000):
            if found := _REMOTE.search(line, start, start + 11_000):
                message = f"code from the network is run unseen: {excerpt(found[0], 100)}"
                fix = "put the code into scripts/, or fetch a fixed version and check its digest first"
                yield Finding("remote-code", message, fix, path, Place(number, found.start() + 1))
                break


def shell_findings(subject: Subject) -> Iterator[Finding]:
    """Tools of ``allowed-tools`` that run any command without a question."""
    field = subject.field("allowed-tools")
    for tool, place in _tools(field) if field else ():
        for name, argument in _TOOL.findall(tool):
            if name.lower() in _SHELLS and _ANY_COMMAND.match(argument.strip().lower()):
                shown = f"{name}({argument})" if argument else name
                message = f"allowed-tools approves {excerpt(shown, 60)}: every shell command, unasked"
                yield Finding("unrestricted-shell", message, "name the commands: Bash(git:*)", subject.file, place)


def _tools(field: Field) -> Iterator[tuple[str, Place]]:
    values = field.value.values if isinstance(field.value, Items) else [field.value]
    yield from ((each.text, each.place) for each in values if isinstance(each, Scalar))


def _quotations(subject: Subject) -> Iterator[Finding]:
    """Test cases that hold the skill's own words: an agent that has read them needs no skill, and passes."""
    fixtures = {path: text for path, text in subject.package.texts.items() if path.startswith(_EVALS)}
    if not fixtures:
        return
    own = {run for run, _, _ in _runs(f"{subject.description}\n\n{subject.text.body}")}
    left = MAX_COMPARED_CHARS
    for path, text in fixtures.items():
        found = next(((start, end) for run, start, end in _runs(text[:left]) if run in own), None)
        left -= min(left, len(text))
        if found:
            start, end = found
            message = f"the test quotes the skill's own text: {excerpt(' '.join(text[start:end].split()), 100)}"
            yield Finding(
                "eval-leak",
                message,
                "ask in other words; what is expected must not stand in the skill",
                path,
                _place(text, start),
            )


def _runs(text: str) -> Iterator[tuple[int, int, int]]:
    """The hash of every `QUOTED_WORDS` words in a row, and where they begin and end."""
    row: deque[tuple[int, int, int]] = deque(maxlen=QUOTED_WORDS)
    for found in _WORD.finditer(text[:MAX_COMPARED_CHARS]):
        row.append((hash(found[0].lower()), *found.span()))
        if len(row) == QUOTED_WORDS:
            yield hash(tuple(word for word, _, _ in row)), row[0][1], found.end()


def _place(text: str, index: int) -> Place:
    before = text.rfind("\n", 0, index) + 1
    return Place(text.count("\n", 0, index) + 1, index - before + 1)
