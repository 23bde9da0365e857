"""Items on a Dask cluster. The only place that imports dask."""
