from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from eval_skills.core.store.files import write_pieces, write_whole


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
