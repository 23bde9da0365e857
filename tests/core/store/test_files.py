from __future__ import annotations

import fcntl
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Timer

from eval_skills.core.store.files import RunLock, is_locked, write_pieces, write_whole


def test_who_looks_whether_a_run_is_locked_does_not_keep_another_from_beginning(tmp_path: Path) -> None:
    journal = tmp_path / "20261121T233824Z-3f9a" / "journal.jsonl"
    RunLock(journal).release()
    (lock := journal.with_suffix(".lock")).touch()  # as a process that was killed leaves it
    with lock.open() as looking:
        fcntl.flock(looking, fcntl.LOCK_SH)
        Timer(0.005, lambda: fcntl.flock(looking, fcntl.LOCK_UN)).start()
        with RunLock(journal):
            assert is_locked(journal)
    assert not is_locked(journal)


def test_threads_that_write_one_file_at_once_do_not_disturb_each_other(tmp_path: Path) -> None:
    file = tmp_path / "answers.jsonl"

    def pieces() -> Iterator[bytes]:
        yield b"slow "
        with ThreadPoolExecutor(1) as other:
            other.submit(write_whole, file, b"fast").result()
        assert file.read_bytes() == b"fast"
        yield b"writer"

    write_pieces(file, pieces())
    assert file.read_bytes() == b"slow writer"
    assert list(tmp_path.iterdir()) == [file]
