"""`sysbench tools completion`: the script that teaches a shell to complete sysbench's command line."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer


class Shell(str, Enum):
    """The shells that can be taught."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


def completion(shell: Annotated[Shell, typer.Argument(help="The shell that is to complete.")]) -> None:
    """Print a shell's completion script: tests, commands and options, those of scripts included.

    For bash, put this into ~/.bashrc: source <(sysbench tools completion bash)
    """
    typer.echo((Path(__file__).parent / "shells" / f"sysbench.{shell.value}").read_text(), nl=False)
