"""The protocol of lock, fence and guard as a small model, explored in all its interleavings."""
