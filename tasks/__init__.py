"""The Prefect tasks, and the runner that maps them."""
