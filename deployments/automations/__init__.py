"""Automations that notify of our events, and the program that applies them to a server."""
