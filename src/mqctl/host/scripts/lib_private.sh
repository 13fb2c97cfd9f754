# A private directory for the credentials of one command, named by the fence and gone with the command.
# Standard input is a bundle: a line "NAME LINES" and that many lines, again and again (host/bundle.py).
umask 077
CRED=$(mktemp -d "$MQCTL_DIR/.trash/cred.$MQCTL_FENCE.XXXXXX") || exit 73
# dash runs no EXIT trap when a signal kills it, so each signal becomes an exit.
trap 'rm -rf "$CRED"' EXIT
trap 'exit 143' TERM
trap 'exit 130' INT
trap 'exit 129' HUP
export CRED
awk '
  left == 0 { name = ENVIRON["CRED"] "/" $1; left = $2; printf "" > name; if (left == 0) close(name); next }
  { print > name; if (--left == 0) close(name) }
' || exit 73
