"""The Prefect API that a command talks to: the user's own, or a private one for this process."""
