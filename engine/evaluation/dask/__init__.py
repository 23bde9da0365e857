"""Items on a Dask cluster."""
