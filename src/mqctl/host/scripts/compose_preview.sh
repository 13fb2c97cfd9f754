# The same for a dry run: the staged input comes as a tar on standard input and is gone afterwards.
umask 077
CRED=$(mktemp -d) || exit 73
trap 'rm -rf "$CRED"' EXIT
trap 'exit 143' TERM
trap 'exit 130' INT
trap 'exit 129' HUP
tar -x -C "$CRED" -f - || exit
resolve_all "$CRED" "$@"
