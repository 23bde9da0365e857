"""Packages of skills: the folder itself is what is checked."""
