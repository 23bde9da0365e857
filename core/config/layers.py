"""The layers of the configuration: what a file or the environment says, where each word stands, and all of them together.

A variable is a key in capitals: ``EVAL_SKILLS_TIMEOUT_MS=5000``, ``EVAL_SKILLS_LLM__MODEL=gpt-4o``.

pydantic-settings (2.16) was measured against our tests and does not replace this: with our camelCase aliases it reads variables
without the prefix (``STORE``, ``LIMIT``, ``VERBOSE``), ignores unknown ``EVAL_SKILLS_*`` variables and a missing file, takes
lists as JSON only, lets the last of a repeated key win, and names neither the file nor the variable of a wrong value. A source of
our own would have to do all that again, and importing the library costs 0.1 s in every call.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, get_args

from pydantic import TypeAdapter, ValidationError

from eval_skills.core.config.keys import (
    Leaf,
    dotted,
    flatten,
    is_known,
    is_list,
    is_mapping,
    is_optional,
    known_leaves,
    nest,
    resolve,
    without_marks,
)
from eval_skills.core.config.options import Config, option_of
from eval_skills.core.config.values import ID_OR_PATH, PATH, STORE
from eval_skills.core.documents import DOCUMENT_SUFFIXES
from eval_skills.core.documents.loading import is_yaml, read_document, validate
from eval_skills.core.documents.yaml_documents import TRUTH_WORDS
from eval_skills.core.errors import ConfigError, InputError
from eval_skills.core.text import nearest


@dataclass(frozen=True, slots=True)
class Setting:
    """One value, `origin` as `LayeredConfig.origin` tells it, and `place` as an error message names it."""

    value: Any
    origin: str
    place: str


Layer = dict[Leaf, Setting]


def default_layer(cwd: Path, home: Path) -> Layer:
    """The defaults."""
    leaves = {leaf: Setting(value, "default", "default") for leaf, value in flatten(Config().to_json()).items()}
    return located(leaves, cwd, home)


def flag_layer(flags: Mapping[str, Any], cwd: Path, home: Path) -> Layer:
    """The options of the command line that were given; None means not given, at any depth."""
    leaves = flatten(_given(flags))
    return checked({leaf: Setting(value, "flag", option_of(dotted(leaf))) for leaf, value in leaves.items()}, cwd, home)


def file_layer(path: Path, home: Path, model: type[Config] = Config) -> Layer:
    """A configuration file.

    Raises:
        ConfigError: the file cannot be read, is not a mapping, or holds an unknown key or a wrong value.
    """
    layer = {leaf: Setting(value, str(path), str(path)) for leaf, value in file_leaves(path, model).items()}
    return checked(layer, path.parent, home, model)


def file_leaves(path: Path, model: type[Config] = Config) -> dict[Leaf, Any]:
    """What a configuration file says, its values unchecked. An empty file, or one of comments only, says nothing.

    Raises:
        ConfigError: the file cannot be read, is not a mapping, is promptfoo's, or holds an unknown key.
    """
    try:
        document = read_document(path)
    except InputError as error:
        raise ConfigError(str(error)) from None
    if not isinstance(document, dict | None):
        raise ConfigError(f"{path}: a configuration is a mapping of keys to values; this is a {type(document).__name__}")
    if document and document.keys() & {"prompts", "providers", "targets", "defaultTest"}:
        raise ConfigError(f"{path}: this is a configuration of promptfoo, not of eval-skills; its tests are read with --tasks")
    try:
        leaves = flatten(document or {}, model=model)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from None
    return {leaf: _truth(leaf, value, model) for leaf, value in leaves.items()} if is_yaml(path) else leaves


def _truth(leaf: Leaf, value: Any, model: type[Config]) -> Any:
    """The truth value of a word of YAML 1.1, for a key that holds one: ``exitOnFail: yes``."""
    if isinstance(value, str) and value.lower() in TRUTH_WORDS and bool in _parts(resolve(leaf, model)[1]):
        return TRUTH_WORDS[value.lower()]
    return value


def _parts(annotation: Any) -> tuple[Any, ...]:
    """The types that a key may hold, without its marks."""
    bare = without_marks(annotation)
    return get_args(bare) or (bare,)


def checked(layer: Layer, base: Path, home: Path, model: type[Config] = Config) -> Layer:
    """The layer, its values checked and its relative paths made absolute.

    Every layer is checked by itself: a wrong value is reported where it stands, even if a higher layer would hide it.

    Raises:
        ConfigError: a value is wrong; the message has the place, the key, what is valid and what was given.
    """
    try:
        validate(model, nest({leaf: setting.value for leaf, setting in layer.items()}))
    except InputError as error:
        place = _place(layer, error)
        is_named = place == option_of(error.path)
        raise ConfigError(": ".join(filter(None, (place, "" if is_named else error.path, error.message)))) from None
    return located(layer, base, home, model)


def located(layer: Layer, base: Path, home: Path, model: type[Config] = Config) -> Layer:
    """The layer with its relative paths resolved against `base`, and a leading ``~`` against `home`."""
    return {leaf: replace(setting, value=_located(leaf, setting.value, base, home, model)) for leaf, setting in layer.items()}


def _located(leaf: Leaf, value: Any, base: Path, home: Path, model: type[Config]) -> Any:
    annotation = resolve(leaf, model)[1]
    if isinstance(value, list):
        return [_absolute(part, base, home) if _is_path(annotation, part) else part for part in value]
    return _absolute(value, base, home) if isinstance(value, str | Path) and _is_path(annotation, value) else value


def _is_path(annotation: Any, value: Any) -> bool:
    """Whether a value of this type is a path, by the marks inside the type: see `options.PATH`."""
    if annotation == ID_OR_PATH:  # an id has neither a slash nor an ending
        return "/" in str(value) or str(value).endswith(DOCUMENT_SUFFIXES)
    if annotation == STORE:
        return "://" not in str(value)
    inside = (*get_args(annotation), *getattr(annotation, "__metadata__", ()))
    return annotation in (Path, PATH) or any(_is_path(part, value) for part in inside)


def _absolute(value: str | Path, base: Path, home: Path) -> str:
    path, folder = Path(value), "/" if str(value).endswith("/") else ""
    if path.parts and path.parts[0] == "~":
        return str(home.joinpath(*path.parts[1:])) + folder
    return str(base / path) + folder


def _given(flags: Mapping[str, Any]) -> dict[str, Any]:
    return {key: _plain(value) for key, value in flags.items() if value is not None}


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return _given(value)
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    return str(value) if isinstance(value, Path) else value


def _place(layer: Layer, error: InputError) -> str:
    places = {dotted(leaf): setting.place for leaf, setting in layer.items()}
    held = [key for key in places if error.path == key or error.path.startswith((f"{key}[", f"{key}."))]
    below = [key for key in places if not held and key.startswith(f"{error.path}." if error.path else "")]
    return places[max(held or below, key=len)] if held or below else ""


PREFIX = "EVAL_SKILLS_"


def environment_layer(environ: Mapping[str, str], cwd: Path, home: Path, model: type[Config] = Config) -> tuple[Layer, list[str]]:
    """The layer, and the variables that start with our prefix and name no key.

    Two underscores go down a level. A blank variable counts as not set, as a CI system leaves it when an input is empty.
    Where a variable holds a whole mapping and another one a key of it, the longer name wins.

    Raises:
        ConfigError: a value cannot be what its key holds.
    """
    layer: Layer = {}
    unknown: list[str] = []
    for name in sorted(filter(_is_ours, environ), key=lambda name: (name.count("__"), name)):
        if not (text := environ[name].strip()):
            continue
        try:
            leaf, annotation = resolve(tuple(name.removeprefix(PREFIX).lower().split("__")), model)
        except ConfigError:
            unknown.append(name)
            continue
        if annotation is Any:
            continue
        for key, value in _leaves(name, leaf, annotation, text, model).items():
            layer[key] = Setting(value, name, name)
    return checked(layer, cwd, home, model), unknown


def refuse_unknown(names: Iterable[str], model: type[Config] = Config) -> None:
    """Raise a ConfigError for the first of these variables, with the nearest one that exists, and what to do with one's own."""
    for name in names:
        # The common prefix is left out of the comparison: it would make every name look alike.
        hint = nearest(name.removeprefix(PREFIX), [variable_of(leaf).removeprefix(PREFIX) for leaf, _ in known_leaves(model)])
        hint = hint.replace("'", f"'{PREFIX}", 1)
        own = "a variable of your own may have this name if it is listed under 'secrets'; else rename it"
        raise ConfigError(f"{name}: no configuration key has this name{hint}; {own}")


def variable_of(leaf: Leaf) -> str:
    """The variable of a key: ``EVAL_SKILLS_LLM__API_BASE``."""
    return PREFIX + "__".join("".join(f"_{c}" if c.isupper() else c.upper() for c in part) for part in leaf)


def read_text(annotation: Any, text: str) -> Any:
    """The value that `text` spells for a key of this type.

    Lists are JSON or divided by commas, mappings are JSON, ``null`` empties an optional key. Text that cannot be read is returned
    as it is: the check that follows refuses it with the key's own rule.
    """
    if text == "null" and is_optional(annotation):
        return None
    if is_list(annotation) and not text.startswith("["):
        return [part.strip() for part in text.split(",") if part.strip()]
    if is_list(annotation) or is_mapping(annotation):
        return json_or_text(text)
    try:
        return TypeAdapter(without_marks(annotation)).validate_python(text)
    except ValidationError:
        return text


def _is_ours(name: str) -> bool:
    return name.startswith(PREFIX)


def _leaves(name: str, leaf: Leaf, annotation: Any, text: str, model: type[Config]) -> dict[Leaf, Any]:
    value = read_text(annotation, text)
    if not is_mapping(annotation):
        return {leaf: value}
    if not isinstance(value, dict):
        raise ConfigError(f'{name}: {".".join(leaf)}: expected a JSON object such as {{"key": …}}; got {text[:80]!r}')
    try:
        return flatten(value, leaf, model)
    except ConfigError as error:
        raise ConfigError(f"{name}: {error}") from None


def json_or_text(text: str) -> Any:
    """The JSON value that a text spells; the text itself where it is not JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


PROJECT_FILE = "eval-skills.config.yaml"
HOME_FILE = Path(".eval-skills", "config.yaml")
_MISNAMED = ".yml"


@dataclass(frozen=True, slots=True)
class LayeredConfig:
    """The configuration in force, and the origin of each of its values; `layers` without the defaults, the lowest first."""

    config: Config
    settings: Mapping[Leaf, Setting]
    layers: Sequence[Layer] = ()

    def said(self, *leaves: Leaf) -> tuple[Leaf, Setting] | None:
        """What the highest layer says that names one of these keys; in one layer the first of them wins. None: no layer does."""
        for layer in reversed(self.layers):
            for leaf in leaves:
                if leaf in layer:
                    return leaf, layer[leaf]
        return None

    def origin(self, key: str) -> str:
        """``flag``, the name of a variable, the path of a file, or ``default``; of a group of keys, all of theirs.

        Raises:
            ConfigError: there is no such key.
        """
        leaf = self._leaf(key)
        origins = [setting.origin for known, setting in self.settings.items() if known[: len(leaf)] == leaf]
        return ", ".join(dict.fromkeys(origins)) or "default"

    def get(self, key: str) -> Any:
        """The value of a dotted key (``llm.model``, in either spelling) as JSON-ready data; a group of keys is a mapping.

        Raises:
            ConfigError: there is no such key.
        """
        leaf = self._leaf(key)
        value: Any = self.config.to_json()
        for part in leaf:
            value = value.get(part) if isinstance(value, dict) else None
        return value

    def flat(self) -> dict[str, Any]:
        """Every dotted camelCase key and its value as JSON-ready data, in the order of the model; of a command's own keys, those
        that a layer names."""
        own = nest({leaf: setting.value for leaf, setting in self.settings.items() if not is_known(leaf, Config)})
        return _flat({name: value for name, value in self.config.to_json().items() if is_known((name,), Config)}) | _flat(own)

    def _leaf(self, key: str) -> Leaf:
        # A category of the user's own may have dots in its name, so the keys that are there come first.
        named = (leaf for leaf in self.settings if dotted(leaf) == key)
        return next(named, None) or resolve(tuple(key.split(".")), type(self.config))[0]


def load_config(
    flags: Mapping[str, Any],
    *,
    config_path: Path | None = None,
    environ: Mapping[str, str],
    cwd: Path,
    home: Path,
    model: type[Config] = Config,
) -> LayeredConfig:
    """The configuration, highest first: flags, ``EVAL_SKILLS_*``, the project's file, the home's file, defaults.

    Layers are merged key by key, at every depth; a list is replaced whole. `flags` are keyed by field name (groups as mappings);
    None means not given. `config_path` takes the place of ``./eval-skills.config.yaml`` and must exist. Relative paths in a
    file are resolved against its folder, those of flags and variables against `cwd`. `model` is `Config` or a subclass that knows
    more keys: the command line's has a group for every command.

    Raises:
        ConfigError: any layer, hidden by a higher one or not, holds an unknown key or a wrong value, or a file cannot be read,
            or ends in ``.yml``, so that it would not be.
    """
    variables, unknown = environment_layer(environ, cwd, home, model)
    layers = [*_file_layers(config_path, cwd, home, model), variables, flag_layer(flags, cwd, home)]
    merged = default_layer(cwd, home)
    for layer in layers:
        merged |= layer
    checked(merged, cwd, home, model)
    config = model.model_validate(nest({leaf: setting.value for leaf, setting in merged.items()}))
    refuse_unknown((name for name in unknown if name not in {*config.secrets, config.llm.api_key_env}), model)
    return LayeredConfig(config, merged, layers)


def is_silent(*, config_path: Path | None = None, environ: Mapping[str, str], cwd: Path, home: Path) -> bool:
    """Whether no file and no variable says anything, so that the defaults and the flags are all there is."""
    files = [home / HOME_FILE, cwd / (config_path or PROJECT_FILE)]
    files += [path.with_suffix(_MISNAMED) for path in files]
    return not any(name.startswith(PREFIX) for name in environ) and not any(map(os.path.lexists, files)) and config_path is None


def _file_layers(config_path: Path | None, cwd: Path, home: Path, model: type[Config]) -> list[Layer]:
    project = cwd / (config_path or PROJECT_FILE)
    optional = [home / HOME_FILE, *([project] if config_path is None else [])]
    for path in optional:
        _refuse_misnamed(path)
    paths = [path for path in optional if os.path.lexists(path)]
    if config_path is not None:
        paths.append(project)
    return [file_layer(path, home, model) for path in paths]


def _refuse_misnamed(path: Path) -> None:
    """Raise a ConfigError for a file beside this one that somebody wrote for it, and whose gates would never apply."""
    if os.path.lexists(misnamed := path.with_suffix(_MISNAMED)):
        raise ConfigError(f"{misnamed}: this name is not read; rename it to {path.name}, or remove it")


def _flat(data: Mapping[str, Any], prefix: Leaf = ()) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in data.items():
        leaf = (*prefix, name)
        flat |= _flat(value, leaf) if isinstance(value, dict) and value else {dotted(leaf): value}
    return flat
