"""The action that `init --ci github` writes into a repository: what it runs needs nothing of this package."""
