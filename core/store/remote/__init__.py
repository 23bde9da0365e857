"""Stores in object storage: a folder of this machine mirrors a bucket, and what lands in it is published there.

Everything else reads and writes the mirror as it does any local store.
"""
