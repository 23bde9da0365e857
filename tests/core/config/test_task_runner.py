"""How people name the place where items are executed."""

from __future__ import annotations

import pytest
from pydantic import TypeAdapter, ValidationError

from eval_skills.core.config.values import TaskRunnerName, cluster_of, dask_address, is_ray, ray_address
from tests.tables import each_row

NAME: TypeAdapter[str] = TypeAdapter(TaskRunnerName)


@each_row(
    ("name", "scheduler", "address"),
    [
        ("local", None, None),
        ("dask", None, None),
        ("dask://10.0.0.7:8786", ("10.0.0.7", 8786), "tcp://10.0.0.7:8786"),
        ("dask://scheduler.cluster.local:1", ("scheduler.cluster.local", 1), "tcp://scheduler.cluster.local:1"),
        ("dask://[::1]:8786", ("::1", 8786), "tcp://[::1]:8786"),
        ("dask+tls://scheduler:65535", ("scheduler", 65535), "tls://scheduler:65535"),
        ("ray", None, None),
        ("ray://auto", None, None),
        ("ray://10.0.0.7:10001", ("10.0.0.7", 10001), None),
    ],
)
def test_a_known_name_says_where(name: str, scheduler: tuple[str, int] | None, address: str | None) -> None:
    assert NAME.validate_python(name) == name
    assert (cluster_of(name), dask_address(name)) == (scheduler, address)


@each_row(
    ("name", "by_ray", "address"),
    [
        ("local", False, None),
        ("dask://10.0.0.7:8786", False, None),
        ("ray", True, None),
        ("ray://auto", True, "auto"),
        ("ray://head:10001", True, "ray://head:10001"),
        ("ray://[::1]:10001", True, "ray://[::1]:10001"),
    ],
)
def test_ray_is_told_in_its_own_words_where_it_is(name: str, by_ray: bool, address: str | None) -> None:
    assert NAME.validate_python(name) == name
    assert (is_ray(name), ray_address(name)) == (by_ray, address)


@each_row(
    "name",
    ["", " dask", "Dask", "Ray", "ray://", "ray://host", "ray+tls://host:1", "ray://auto:", "ray://host:0",
     "dask://", "dask://host", "dask://host:", "dask://host:0", "dask://host:65536",
     "dask://host:8786/", "dask://user@host:1", "dask://a b:1", "tcp://host:8786", "dask://host:8786\n"],
)  # fmt: skip
def test_any_other_name_is_refused_with_what_would_be_valid(name: str) -> None:
    with pytest.raises(
        ValidationError, match=r"unknown task runner .*; give local .*, dask or ray .*, dask://HOST:PORT .*ray://auto"
    ):
        NAME.validate_python(name)


def test_a_slip_of_the_pen_is_recognised() -> None:
    with pytest.raises(ValidationError, match=r"unknown task runner 'dusk' \(did you mean 'dask'\?\)"):
        NAME.validate_python("dusk")
