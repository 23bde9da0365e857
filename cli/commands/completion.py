"""``eval-skills completion``."""

from __future__ import annotations

import sys
from typing import Annotated, Literal

from cyclopts import Parameter

from eval_skills.cli.context import current

Shell = Literal["bash", "zsh", "fish"]


def completion_command(shell: Annotated[Shell, Parameter(help="The shell to complete in")], /) -> int:
    """Print the script that completes commands and options in a shell.

    Bash reads it from ~/.local/share/bash-completion/completions/eval-skills, for example.

    Example: eval-skills completion bash > eval-skills.bash
    """
    from eval_skills.cli.output.run import print_json

    app = current().app
    assert app is not None
    script = app.generate_completion(shell=shell)
    if current().json:
        print_json({"shell": shell, "script": script})
    else:
        sys.stdout.write(script)
    return 0
