"""The viewer's pages, one file each: what of the store they show, and how."""
