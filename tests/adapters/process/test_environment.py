from __future__ import annotations

from eval_skills.adapters.process.launch import child_environment

OURS = {
    "PATH": "/bin",
    "HOME": "/h",
    "LC_ALL": "C",
    "LANG": "C",
    "TZ": "UTC",
    "TMPDIR": "/t",
    "API_KEY": "s",
    "BASH_ENV": "/x",
    "EXTRA": "e",
}


def test_p71_only_allowed_variables_pass() -> None:
    assert set(child_environment({}, [], OURS)) == {"PATH", "HOME", "LC_ALL", "LANG", "TZ", "TMPDIR"}


def test_named_variables_pass_where_they_are_set_and_own_values_win() -> None:
    env = child_environment({"PATH": "/own", "MODE": "test"}, ["EXTRA", "ABSENT"], OURS)
    assert (env["PATH"], env["MODE"], env["EXTRA"]) == ("/own", "test", "e")
    assert "ABSENT" not in env
