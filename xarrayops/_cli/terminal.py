"""What the command lines print with: rich, or plain text where it is not installed."""

from __future__ import annotations

try:
    from rich.box import SIMPLE_HEAD as SIMPLE_HEAD
    from rich.console import Console as Console
    from rich.progress import (
        BarColumn as BarColumn,
        Progress as Progress,
        TaskProgressColumn as TaskProgressColumn,
        TextColumn as TextColumn,
    )
    from rich.table import Table as Table
    from rich.text import Text as Text

    HINT = ""
except ImportError:
    from xarrayops._cli.plain import (  # type: ignore[assignment]
        SIMPLE_HEAD as SIMPLE_HEAD,
        BarColumn as BarColumn,
        Console as Console,
        Progress as Progress,
        Table as Table,
        TaskProgressColumn as TaskProgressColumn,
        Text as Text,
        TextColumn as TextColumn,
    )
    from xarrayops.plugin import install_command

    HINT = f"For colours and a progress bar: {install_command('cli')}"
