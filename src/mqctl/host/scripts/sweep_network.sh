# ID FLEET MARQUEE: remove one network by its full id, after its labels were read again.
owner=$(docker network inspect --format '{{index .Labels "mqctl.fleet"}}/{{index .Labels "mqctl.marquee"}}' "$1" </dev/null) || exit 0
[ "$owner" = "$2/$3" ] || { echo "it is no longer what it was: $owner" >&2; exit 65; }
docker network rm "$1" </dev/null >&2
