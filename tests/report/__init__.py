"""Reports, fed with events written by hand."""
