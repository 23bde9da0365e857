"""All layers together, and which of them each value came from.

pydantic-settings (2.16) was measured against our tests and does not replace this: with our camelCase aliases it reads variables
without the prefix (``STORE``, ``LIMIT``, ``VERBOSE``), ignores unknown ``EVAL_SKILLS_*`` variables and a missing file, takes
lists as JSON only, lets the last of a repeated key win, and names neither the file nor the variable of a wrong value. A source of
our own would have to do all that again, and importing the library costs 0.1 s in every call.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval_skills.core.config.keys import Leaf, dotted, is_known, nest, resolve
from eval_skills.core.config.layer import (
    PREFIX,
    Layer,
    Setting,
    checked,
    default_layer,
    environment_layer,
    file_layer,
    flag_layer,
    refuse_unknown,
)
from eval_skills.core.config.options import Config

PROJECT_FILE = "eval-skills.config.yaml"
HOME_FILE = Path(".eval-skills", "config.yaml")


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
        ConfigError: any layer, hidden by a higher one or not, holds an unknown key or a wrong value, or a file cannot be read.
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
    return not any(name.startswith(PREFIX) for name in environ) and not any(map(os.path.lexists, files)) and config_path is None


def _file_layers(config_path: Path | None, cwd: Path, home: Path, model: type[Config]) -> list[Layer]:
    project = cwd / (config_path or PROJECT_FILE)
    optional = [home / HOME_FILE, *([project] if config_path is None else [])]
    paths = [path for path in optional if os.path.lexists(path)]
    if config_path is not None:
        paths.append(project)
    return [file_layer(path, home, model) for path in paths]


def _flat(data: Mapping[str, Any], prefix: Leaf = ()) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in data.items():
        leaf = (*prefix, name)
        flat |= _flat(value, leaf) if isinstance(value, dict) and value else {dotted(leaf): value}
    return flat
