"""``eval-skills store``: whether a store is as it was written."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import App, Parameter

from eval_skills.cli.context import current, existing_store, print_json
from eval_skills.cli.options import PastResults
from eval_skills.core.text import plural

if TYPE_CHECKING:
    from eval_skills.core.store.verify import Verified

DAMAGED = 1

store_app = App(name="store", help="Check a store, and repair it.")


@store_app.command(name="verify")
def verify_command(
    *,
    repair: Annotated[
        bool, Parameter(help="Put damaged files aside, make reports anew, remove leftovers", show_default=False)
    ] = False,
    store: PastResults = None,
) -> int:
    """Check every file of the store: its bytes, manifests, journals, and what stopped processes left behind.

    Exit code 1 when something is wrong and was not repaired. Without --repair nothing is changed.

    Example: eval-skills store verify --repair
    """
    found = existing_store(store)
    if repair:
        from eval_skills.engine.repair import repair as repaired

        result = repaired(found)
    else:
        from eval_skills.core.store.verify import verify

        result = verify(found)
    _show(result, found.path)
    is_open = any(not each.repaired or each.repaired.startswith("not repaired") for each in result.findings)
    return DAMAGED if is_open else 0


def _show(result: Verified, store: str) -> None:
    if current().json:
        findings = [_camel_case(asdict(each)) for each in result.findings]
        print_json(asdict(result) | {"findings": findings})
        return
    for finding in result.findings:
        current().say(f"{finding.path}: {finding.problem}{finding.repaired and f'; {finding.repaired}'}", style="red")
    for remark in result.newer:
        current().say(remark)
    if result.undigested:
        older = plural(len(result.undigested), "file")
        current().say(f"{older} without a digest, whose checksums hold; --repair writes the digests down")
    verdict = f"{len(result.findings)} found" if result.findings else "all as written"
    style = "red" if result.findings else "green"
    current().say(f"{store}: {plural(result.files, 'landed file')}, {verdict}", style=style)


def _camel_case(found: dict[str, Any]) -> dict[str, Any]:
    from pydantic.alias_generators import to_camel

    return {to_camel(name): value for name, value in found.items()}
