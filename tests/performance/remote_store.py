"""Row: a store of nightly runs in object storage, beside the same in a folder."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import urllib.request
from pathlib import Path

from eval_skills.core.store import Store
from tests.object_storage import ObjectStorage
from tests.performance.bar import Bar
from tests.performance.isolation import folder_of_row
from tests.performance.nights import write_nights
from tests.performance.rounds import alternate, seconds

COMMAND = Path(sys.executable).with_name("eval-skills")
PLACE = "s3://benchmark/nights"
MOST_TIMES, COLD_LIMIT_S = 2.0, 15.0


def measure(*, quick: bool) -> list[Bar]:
    """`history` of a store in a bucket that has nothing new, in turn with `history` of a folder; and the first one on a machine.

    The bucket is moto's, on this machine: no network is measured, and that server answers some hundred requests a second.
    """
    nights, rounds = (20, 3) if quick else (250, 7)
    folder = folder_of_row()
    storage = ObjectStorage()
    urllib.request.urlopen(urllib.request.Request(f"{storage.url}/benchmark", method="PUT")).close()
    os.environ |= {
        "AWS_ENDPOINT_URL": storage.url,
        "AWS_ACCESS_KEY_ID": "key-id",
        "AWS_SECRET_ACCESS_KEY": "secret-key",
        "AWS_REGION": "us-east-1",
        "HOME": str(folder),
        "XDG_STATE_HOME": str(folder / "first"),
    }
    items = write_nights(folder / "eval-store", nights)
    shutil.copytree(folder / "eval-store", Store(PLACE).layout.root, dirs_exist_ok=True)
    published_s = seconds(Store(PLACE).publish)
    os.environ["XDG_STATE_HOME"] = str(folder / "second")
    cold_s = seconds(lambda: _history(PLACE))
    taken = alternate(
        {
            "folder s": lambda: seconds(lambda: _history(str(folder / "eval-store"))),
            "bucket s": lambda: seconds(lambda: _history(PLACE)),
        },
        rounds,
    )
    storage.stop()
    over = f"{2 * nights} runs with {items:,} items"
    return [
        Bar(
            row="remote_store",
            what="eval-skills history of a bucket with nothing new, against a folder",
            measured=taken.ratio("bucket s", "folder s"),
            limit=MOST_TIMES,
            detail=f"{taken.spread('bucket s')}; {taken.spread('folder s')}; {over}",
        ),
        Bar(
            row="remote_store",
            what="eval-skills history of a bucket that this machine has not seen",
            measured=cold_s,
            limit=COLD_LIMIT_S,
            unit="s",
            detail=f"{over}; publishing all of them took {published_s:.1f} s",
        ),
    ]


def _history(store: str) -> None:
    subprocess.run([str(COMMAND), "history", "--store", store], capture_output=True, check=True)
