"""Container states made for real on a host, and what the next cycles decide about them."""
