"""Scorers that judge what an agent left in its workspace: files that are there, what they hold, and commands that check them."""
