# (PROJECT KIND DIRECTORY FILE LINKS)...: resolve input that was staged by a put before.
resolve_all "$MQCTL_DIR" "$@"
