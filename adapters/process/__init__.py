"""Skills that are programs: launching, talking JSON-RPC, pooling workers, ending whole process trees."""
