"""What the program does, without Prefect: every action that a flow, a command or the Python API starts.

`definition` settles what is asked and by which scorers; `evaluation` calls the skills and lands the results; `rescoring`,
`backfill`, `nightly`, `monitor`, `comparison` and `calibration` are the other actions; `stored_runs` reads what earlier ones
left; `judging` is what they share where a model scores; `discovery` finds skills, `doctor` checks the installation.
"""
