"""Who asks for the sandbox gets it, or is told why not."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval_skills.adapters import Confinement, check_skill, open_adapter
from eval_skills.core.errors import InputError, UsageError
from tests.adapters.greedy import greedy_skill
from tests.adapters.programs import ONE_SHOT, PATIENCE_S
from tests.adapters.sandboxed import HELD, TRY, MakeSkill, needs_sandbox


@needs_sandbox
async def test_a_skill_may_ask_for_it_itself_and_no_caller_takes_it_away(program_skill: MakeSkill) -> None:
    skill = program_skill(ONE_SHOT + TRY + "print(reply(tried(lambda: open('written', 'w').close())))", sandbox="bwrap")
    async with open_adapter(skill, confinement=Confinement(sandbox="none")) as adapter:
        assert (await adapter.call(None, PATIENCE_S)).output[0] == "failed"


@needs_sandbox
def test_a_service_that_could_not_be_reached_is_refused_before_it_starts(tmp_path: Path) -> None:
    skill = greedy_skill("http", tmp_path / "skill")
    with pytest.raises(
        InputError, match=r"adapterConfig.serve: .*cannot be reached; .*adapterConfig.network: true or --sandbox-network"
    ):
        check_skill(skill, confinement=HELD)
    check_skill(skill, confinement=Confinement(sandbox="bwrap", sandbox_network="all"))


@needs_sandbox
def test_p73_a_plug_in_that_no_sandbox_could_hold_is_refused(monkeypatch: pytest.MonkeyPatch, program_skill: MakeSkill) -> None:
    from eval_skills.adapters import register_adapter, registry
    from tests.adapters.test_registry import Constant

    monkeypatch.setattr(registry, "_ADAPTERS", dict(registry._ADAPTERS))
    register_adapter("inside", Constant)
    skill = program_skill("").model_copy(update={"adapter_type": "inside"})
    check_skill(skill)
    with pytest.raises(InputError, match="'inside' runs inside this process"):
        check_skill(skill, confinement=HELD)


def test_without_bubblewrap_it_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, program_skill: MakeSkill) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError, match=r"^--sandbox bwrap: there is no bwrap on PATH; install bubblewrap"):
        HELD.check()
    with pytest.raises(InputError, match=r"adapterConfig.sandbox: there is no bwrap on PATH"):
        check_skill(program_skill("", sandbox="bwrap"))


def test_where_it_does_not_work_the_reason_is_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with pytest.raises(
        UsageError, match=r"does not work here \(bwrap: No permissions to create new namespace\); user namespaces"
    ):
        HELD.check()
