# PROJECT: forget an expiry that was finished, or that the declared file took back.
rm -f -- "$MQCTL_DIR/tombstones/$1"
