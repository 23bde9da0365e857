"""``python -m eval_skills.cli``."""

from eval_skills.cli.main import main

main()
