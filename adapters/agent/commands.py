"""What a shell command reads: the paths that it opens, and the parts of it that are not understood.

A simple reader of shell, not a shell: words, quotes, pipes, braces, assignments, loops over words, here-documents, and the
commands that search or go through folders. What it does not understand it hands back as a text, so that nobody takes it for read.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from itertools import takewhile

MAX_CHARS, MAX_WORDS, MAX_OPENED = 20_000, 64, 500
"""Of one command no more is read, nor are more words made of one, or paths of all: the rest is not understood."""

_SILENT = frozenset(
    shlex.split(
        "ls test [ [[ stat rm mv touch echo printf mkdir rmdir chmod chown tree pwd true false : export unset set sleep exit "
        "type which command hash wc du file realpath readlink dirname basename ln sha256sum md5sum kill wait done fi esac tee for"
    )
)
"""Commands that list, change or name files, and show nothing of what is in them."""
_LISTING = frozenset(shlex.split("ls find echo printf realpath fd fdfind"))
_FOLDERS = frozenset({"cd", "pushd"})
_SEARCHING = frozenset(shlex.split("grep egrep fgrep zgrep rg ag ack"))
_INTO_FOLDERS = frozenset(shlex.split("rg ag ack"))
_SHELLS = frozenset(shlex.split("bash sh zsh dash ksh eval"))
_PREFIXES = frozenset(shlex.split("do then else elif if while until ! { ( time nohup sudo env builtin exec xargs"))
_GIT_SHOWS = frozenset({"show", "diff", "grep", "cat-file", "blame"})
_READERS = frozenset(
    shlex.split("cat head tail less more sed awk gawk nl bat batcat cut sort uniq tac strings xxd od base64 cp rev paste")
)
"""Commands that open the files that they are given. They open nothing inside a folder unless an option says so."""

_HEREDOC = re.compile(r"<<-?[ \t]*(['\"]?)(\w+)(?!\w)\1")
_INNER = re.compile(r"\$\(([^()`]*)\)|`([^`]*)`")
_INNER_VARIABLE = re.compile(r"\binner_\d+")
_COMMENT = re.compile(r"[ \t]#[ \t]")
_ASSIGNED = re.compile(r"([A-Za-z_]\w*)=(.*)", re.S)
_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")
_BRACES = re.compile(r"\{([^{}]*)\}")
_CODE = re.compile(r"[\s\"'();]")
_OPERATOR = re.compile(r"[;|&()<>\n]+")
# No letter fits two parts of a pattern: an option of a hundred thousand letters takes no time.
_NAMES_ONLY = re.compile(
    r"-[^\W\d_lLcq]*[lLcq][a-zA-Z]*|--(?:files|files-with(?:out)?-match(?:es)?|count|quiet|silent|count-matches)"
)
_RECURSIVE = re.compile(r"-[^\W\d_rR]*[rR][a-zA-Z]*|--(?:dereference-)?recursive")
_HIDDEN = re.compile(r"-(?:[a-tv-z]|u(?!u))*(?:\.|uu)[a-z.]*|--(?:hidden|no-ignore.*|unrestricted)")
_TAKES_VALUE = frozenset(
    shlex.split("-A -B -C -m -g -t -T -d -D --max-count --glob --type --context --include --exclude --max-depth")
)
_OPENS = re.compile(
    r"(?:\bopen|\bPath|\breadFile\w*|\bFile\.read)\(\s*r?[\"']([^\"'\n]+)[\"']\s*(?:\)(?!\s*\.\s*write)|,\s*[\"'](?:r[bt]?|utf-?8)[\"'])"
)


@dataclass(frozen=True, slots=True)
class Opened:
    """A path, or a pattern of paths, that is opened. `below`: a folder, with all files in it that are called like `name`.
    `searched`: only the lines that match are shown, each with the name of its file. `sure` False: it may be opened."""

    path: str
    below: bool = False
    name: str = "*"
    searched: bool = False
    sure: bool = True


@dataclass(slots=True)
class Reading:
    """What a command reads: the paths that it opens, the texts in it that are not understood (`unclear`), and the folders it
    ends in."""

    folders: list[str]
    opened: list[Opened] = field(default_factory=list)
    unclear: list[str] = field(default_factory=list)
    _values: dict[str, list[str]] = field(default_factory=dict)
    _named: list[Opened] = field(default_factory=list)
    _documents: dict[str, str] = field(default_factory=dict)
    _inner: dict[str, str] = field(default_factory=dict)

    def script(self, text: str) -> None:
        """Read a whole script."""
        text = self._without_documents(text.split("\n"))
        if len(text) > MAX_CHARS:
            self.unclear.append(text[MAX_CHARS:])
        for operator, words in _commands(self._without_inner(text[:MAX_CHARS])):
            if len(self.opened) > MAX_OPENED:
                self.unclear.append(text)
                break
            piped = "|" in operator and "||" not in operator
            if not piped:
                self._named = []
            self._command(words, piped=piped)

    def code(self, text: str) -> None:
        """Read a program of another language: the files that it plainly opens; else it is not understood."""
        found = [match[1] for match in _OPENS.finditer(text)]
        self.opened += [opened for path in found for opened in self._at(path)]
        rest = _OPENS.sub("", text)
        if rest.strip():
            self.unclear.append(rest)

    def _without_documents(self, lines: Iterable[str]) -> str:
        """The script without comments, and with a word in place of each here-document, which is read when its command is."""
        kept, rest = [], map(_without_comment, lines)
        for line in rest:
            if (match := _HEREDOC.search(line)) is not None:
                word = f"${{document_{len(self._documents)}}}"
                self._documents[word] = "\n".join(_until(match[2], rest))
                line = f"{line[: match.start()]} {word}{line[match.end() :]}"
            kept.append(line)
        return "\n".join(kept)

    def _document(self, program: str, text: str) -> None:
        if program in _SHELLS:
            self.script(text)
        elif program not in _SILENT | _READERS | {"git"}:
            self.code(text)

    def _without_inner(self, text: str) -> str:
        """The text with a variable in place of each ``$(…)``, which is read when the command is that it stands in."""
        for _ in range(MAX_WORDS):
            match = _INNER.search(text)
            if match is None:
                break
            inner = match[1] if match[1] is not None else match[2]
            variable = f"inner_{len(self._inner)}"
            self._inner[variable] = inner
            text = f"{text[: match.start()]}${{{variable}}}{text[match.end() :]}"
        return text

    def _read_inner(self, words: Sequence[str]) -> None:
        """Read the commands that stand in the words of another one: their values are the paths that they name."""
        for variable in _INNER_VARIABLE.findall(" ".join(words)):
            if variable in self._inner and variable not in self._values:
                found = replace(self, folders=list(self.folders), opened=[], unclear=[], _named=[])
                found.script(self._inner[variable])
                self.opened += found.opened
                self.unclear += found.unclear
                self._values[variable] = _as_words(found._named, self._inner[variable])

    def _command(self, words: list[str], *, piped: bool) -> None:
        self._read_inner(words)
        words = self._assigned(words)
        through_xargs = "xargs" in words[: len(words) - len(_stripped(words))]
        documents = [self._documents[word] for word in words if word in self._documents]
        words = [each for word in _stripped(words) if word not in self._documents for each in self._expanded(word)]
        if not words:
            return
        program, rest = posixpath.basename(words[0]), words[1:]
        for text in documents:
            self._document(program, text)
        if program == "for" and "in" in rest:
            self._values[rest[0]] = rest[rest.index("in") + 1 :]
        elif program == "read":
            self._values.update({name: _as_words(self._named, " ".join(words)) for name in rest if not name.startswith("-")})
        elif through_xargs:
            self._with_files(program, rest)
        elif program in _FOLDERS:
            self.folders = [posixpath.join(folder, rest[0]) for folder in self.folders] if rest else ["~"]
        elif program == "find":
            self._find(rest)
        elif program in _SHELLS:
            self._shell(rest)
        elif program in _SEARCHING or (program == "git" and rest[:1] == ["grep"]):
            self._search(program, rest if program != "git" else ["-r", *rest[1:]], piped=piped)
        elif program in _SILENT or (program == "git" and rest and rest[0] not in _GIT_SHOWS):
            if program in _LISTING:
                self._named += [opened for word in rest if not word.startswith("-") for opened in self._at(word)]
        else:
            self._open(program, rest)

    def _with_files(self, program: str, options: Sequence[str]) -> None:
        """A command that is run with the files that the one before it names."""
        if program in _SILENT or (program in _SEARCHING and any(_NAMES_ONLY.fullmatch(each) for each in options)):
            return
        self.opened += self._named
        self._named = []

    def _find(self, words: Sequence[str]) -> None:
        first = next((at for at, word in enumerate(words) if word[:1] in "-(!\\"), len(words))
        places = list(words[:first]) or ["."]
        names = [words[at + 1] for at, word in enumerate(words[:-1]) if word in {"-name", "-iname"}] or ["*"]
        self._named += [
            Opened(opened.path, below=True, name=name.casefold())
            for place in places
            for opened in self._at(place)
            for name in names
        ]
        for at, word in enumerate(words):
            if word in {"-exec", "-execdir", "-ok", "-okdir"} and at + 1 < len(words):
                self._with_files(posixpath.basename(words[at + 1]), words[at + 2 :])

    def _shell(self, words: Sequence[str]) -> None:
        """``bash -c SCRIPT``, ``bash FILE`` or ``eval TEXT``."""
        script = next((words[at + 1] for at, word in enumerate(words[:-1]) if re.fullmatch(r"-\w*c", word)), None)
        if script is not None:
            self.script(script)
        else:
            self._open("bash", words)

    def _search(self, program: str, words: Sequence[str], *, piped: bool) -> None:
        recursive = program in _INTO_FOLDERS or any(_RECURSIVE.fullmatch(word) for word in words)
        if any(_NAMES_ONLY.fullmatch(word) for word in words):
            paths = _paths_of_search(words, pattern="--files" not in words)
            self._named += [
                Opened(o.path, below=recursive, searched=recursive) for path in paths or ["."] for o in self._at(path)
            ]
            return
        hidden = program not in _INTO_FOLDERS or any(_HIDDEN.fullmatch(word) for word in words)
        paths = _paths_of_search(words)
        if not paths and recursive and not piped:
            paths = ["."]
        for path in paths:
            if not recursive or hidden or path.strip("./"):
                self.opened += [Opened(o.path, o.below or recursive, o.name, searched=recursive) for o in self._at(path)]

    def _open(self, program: str, words: Sequence[str]) -> None:
        """Any other command opens the files that it is given; unless it only reads files, it may go through a folder, too."""
        plain = program in _READERS and not any(_RECURSIVE.fullmatch(word) or word == "-a" for word in words)
        for word in words:
            if "$" not in word and (program in _READERS or not _CODE.search(word)):
                texts = (word, *word.split("=", 1)[1:])
                found = [opened for text in texts for opened in self._at(text)]
                self.opened += found
                self.opened += [Opened(each.path, below=True, sure=False) for each in found if not plain and not each.below]
            elif self._at(word):
                self.code(word)

    def _at(self, path: str) -> list[Opened]:
        """Where a path leads; one of which the end is unknown is not understood."""
        found = [opened_at(posixpath.join(folder, path)) for folder in self.folders]
        self.unclear += [each.path for each in found if "$" in _end(each.path)]
        return [each for each in found if "$" not in _end(each.path)]

    def _assigned(self, words: list[str]) -> list[str]:
        """The words after the assignments at their head, which are noted."""
        words = _stripped(words, of=_PREFIXES - {"xargs"}) if words[:1] != ["xargs"] else words
        while words and (match := _ASSIGNED.fullmatch(words[0])) is not None:
            self._values[match[1]] = self._expanded(match[2])
            words = words[1:]
        return words

    def _expanded(self, word: str) -> list[str]:
        """The words that one stands for, with the values of variables that are known, and what braces make of it: ``{a,b}/c`` is
        ``a/c`` and ``b/c``; not more than `MAX_WORDS`."""
        words = [word]
        for _ in range(MAX_WORDS):
            known = (m for m in _VARIABLE.finditer(words[0]) if (m[1] or m[2]) in self._values)
            match = next(known, None) if len(words[0]) <= MAX_CHARS else None
            if match is None:
                match = next((m for m in _BRACES.finditer(words[0]) if "," in m[1] and "$" not in words[0]), None)
                if match is None or len(words[0]) > MAX_CHARS:
                    break
                middles = match[1].split(",")
            else:
                middles = [text for text in self._values[match[1] or match[2]] if match[0] not in text]
            first = words.pop(0)
            words += [first[: match.start()] + middle + first[match.end() :] for middle in middles]
            if not words:
                break
            words = words[:MAX_WORDS]
        return words


def _until(end: str, lines: Iterator[str]) -> Iterator[str]:
    return takewhile(lambda line: line.strip(" \t") != end, lines)


def _without_comment(line: str) -> str:
    """A line without the comment at its end; one with a quote in it may be none."""
    if line.lstrip(" \t").startswith("#"):
        return ""
    comment = _COMMENT.search(line, max(line.rfind("'"), line.rfind('"')) + 1)
    return line if comment is None else line[: comment.start() + 1]


def _end(path: str) -> str:
    return "/".join(path.split("/")[-3:])


def opened_at(path: str, *, below: bool = False) -> Opened:
    """A path that is opened; of a pattern with ``**`` all that is called like its end below the folder before it."""
    path = posixpath.normpath(path)
    folder, stars, name = path.partition("**")
    if not stars:
        return Opened(path, below=below)
    return Opened(posixpath.normpath(folder or "."), below=True, name=posixpath.basename(name).casefold() or "*")


def _as_words(named: Sequence[Opened], text: str) -> list[str]:
    """Paths that a command names, as the values of a variable; what is not a single path is not understood."""
    plain = [opened.path for opened in named if not opened.below]
    return (
        plain if plain and len(plain) == len(named) else [f"$({text} {' '.join(each.path + '/' + each.name for each in named)})"]
    )


def _paths_of_search(words: Sequence[str], *, pattern: bool = True) -> list[str]:
    """The words of a search but for its options and its pattern."""
    found, skip = [], False
    for word in words:
        if skip:
            skip = False
        elif word in {"-e", "-f", "--regexp", "--file"} or word.startswith(("--regexp=", "--file=")):
            pattern, skip = False, "=" not in word
        elif word in _TAKES_VALUE:
            skip = True
        elif not word.startswith("-") or word == "-":
            found.append(word)
    return found[1:] if pattern else found


def _commands(text: str) -> Iterator[tuple[str, list[str]]]:
    """The simple commands of a script, each with the operator before it, and without what it writes to."""
    words: list[str] = []
    before, redirected = "", False
    for token in _tokens(text):
        if not _OPERATOR.fullmatch(token):
            if not redirected:
                words.append(token)
            redirected = False
        elif ">" in token:
            redirected = not token.endswith("\n")
            if words and words[-1].isdigit():
                words.pop()
        elif token.strip("<"):
            if words:
                yield before, words
            words, before, redirected = [], token, False
    if words:
        yield before, words


def _tokens(text: str) -> list[str]:
    reader = shlex.shlex(text, posix=True, punctuation_chars=";|&()<>\n")
    reader.whitespace, reader.commenters, reader.whitespace_split = " \t\r", "", True
    try:
        return list(reader)
    except ValueError:  # a quote that is not closed
        return [part for line in re.split(r"([;|&()<>\n]+)", text) for part in _plain(line)]


def _plain(text: str) -> list[str]:
    return [text] if _OPERATOR.fullmatch(text) else text.replace('"', " ").replace("'", " ").split()


def _split(text: str) -> list[str]:
    return [token for token in _tokens(text) if not _OPERATOR.fullmatch(token)]


def _stripped(words: Sequence[str], of: frozenset[str] = _PREFIXES) -> list[str]:
    """The words from the one that says what is done: without ``do``, ``sudo``, ``xargs -0`` and the like."""
    at = 0
    while at < len(words) and (words[at] in of or (at and words[at].startswith("-"))):
        at += 1 + (words[at] in {"-I", "-n", "-P", "-L", "-d", "-u"})
    return list(words[at:])


def fits(name: str, pattern: str) -> bool:
    """Whether a name fits a pattern, without regard to case."""
    return fnmatchcase(name.casefold(), pattern.casefold())
