"""mqctl: one guarded reconcile cycle at a time on Docker hosts reached over SSH."""

__version__ = "0.1.0"
