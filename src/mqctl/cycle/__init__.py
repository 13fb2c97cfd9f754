"""One guarded cycle: the way in, the loop over the phases, the hands, the memory, the end."""
