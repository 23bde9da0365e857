"""Deployments, containers and automations, which run the flows by themselves. `eval-skills serve` reads prefect.yaml here."""
