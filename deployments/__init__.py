"""What runs the flows by itself: deployments, containers, automations. `eval-skills serve` reads prefect.yaml here."""
