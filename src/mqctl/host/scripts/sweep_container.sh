# ID FLEET MARQUEE: remove one exited container by its full id, after its labels were read again.
owner=$(docker inspect --type container \
  --format '{{index .Config.Labels "mqctl.fleet"}}/{{index .Config.Labels "mqctl.marquee"}} {{.State.Running}}' "$1" </dev/null) || exit 0
[ "$owner" = "$2/$3 false" ] || { echo "it is no longer what it was: $owner" >&2; exit 65; }
docker rm "$1" </dev/null >&2
