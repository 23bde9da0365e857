"""Items in the worker processes of a Dask or Ray cluster."""
