"""`make soak`: long runs in which things go wrong at random."""
