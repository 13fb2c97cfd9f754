"""One guarded cycle from end to end, on the bed of real servers."""
