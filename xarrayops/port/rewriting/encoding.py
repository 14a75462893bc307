"""Writing a rewritten program in the encoding and with the ends of lines of the original."""

from __future__ import annotations

import io
import tokenize
from pathlib import Path

from xarrayops.port.rewriting.edits import Rewritten
from xarrayops.port.source import files


def write(path: Path, result: Rewritten, original: Path) -> None:
    """Write the text; a file with mixed ends of lines gets those that it has most."""
    data = original.read_bytes()
    encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    text = result.text.removeprefix("\ufeff")
    windows = data.count(b"\r\n")
    if windows > data.count(b"\n") - windows:
        text = text.replace("\n", "\r\n")
    files.write(path, text.encode(encoding))
