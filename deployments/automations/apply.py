"""Create or update the automations beside this file; all of them send their notifications through one block.

    NOTIFY_URL=https://chat.example/hooks/… python deployments/automations/apply.py
    python deployments/automations/apply.py --block slack-webhook/team-alerts

With NOTIFY_URL a block `custom-webhook/eval-skills` is saved, which posts `{"text": "subject, newline, body"}` there, as chat
servers with incoming webhooks understand it. Any other kind of notification block (mail, PagerDuty, Teams …) is made in the
Prefect UI under *Blocks* and named with --block. Automations are known by their names: applying twice changes nothing.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any
from uuid import UUID

import yaml
from prefect.automations import Automation
from prefect.blocks.notifications import CustomWebhookNotificationBlock
from prefect.client.orchestration import get_client
from prefect.exceptions import ObjectNotFound

HERE = Path(__file__).parent
OWN_BLOCK = "custom-webhook/eval-skills"


def main() -> None:
    """Apply the files that were named, or all of them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("files", nargs="*", type=Path, help="files of automations [default: all beside this program]")
    parser.add_argument("--block", help="the notification block, as type/name [default: %(default)s]", default=OWN_BLOCK)
    options = parser.parse_args()
    if url := os.environ.get("NOTIFY_URL"):
        save_webhook(url)
    block = block_id(options.block)
    for file in options.files or sorted(HERE.glob("*.yaml")):
        print(f"{apply(file, block)}: {file.stem}")


def save_webhook(url: str) -> None:
    """Save the block that posts to `url`."""
    block = CustomWebhookNotificationBlock(name="eval-skills", url=url, json_data={"text": "{{subject}}\n{{body}}"})
    block.save(OWN_BLOCK.partition("/")[2], overwrite=True)


def block_id(slug: str) -> UUID:
    """The id of a saved block; ends the program when there is none."""
    kind, _, name = slug.partition("/")
    with get_client(sync_client=True) as client:
        try:
            return client.read_block_document_by_name(name, kind).id
        except ObjectNotFound:
            sys.exit(f"there is no block {slug}; set NOTIFY_URL to have {OWN_BLOCK} made, or name yours with --block type/name")


def apply(file: Path, block: UUID) -> str:
    """Create or update the automation of a file; what was done."""
    said: dict[str, Any] = yaml.safe_load(file.read_text(encoding="utf-8"))
    for action in said["actions"]:
        action["block_document_id"] = str(block)
    wanted = Automation.model_validate(said)
    if (known := existing(wanted.name)) is None:
        wanted.create()
        return "created"
    wanted.id = known
    wanted.update()
    return "updated"


def existing(name: str) -> UUID | None:
    """The id of the automation with this name."""
    with get_client(sync_client=True) as client:
        found = client.read_automations_by_name(name)
    return found[0].id if found else None


if __name__ == "__main__":
    main()
