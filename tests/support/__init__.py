"""What several tests need: someone who runs mqctl, and ways to disturb the run."""
