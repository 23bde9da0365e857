"""The viewer: the store in a browser, as a server on this machine or as files."""
