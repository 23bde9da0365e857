"""Watch a log of real interactions and judge samples of it."""
