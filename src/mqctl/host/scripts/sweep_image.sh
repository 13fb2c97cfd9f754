# ID: remove one image that mqctl pulled; never by force, so one that came into use meanwhile stays.
for name in $(docker image inspect --format '{{range .RepoTags}}{{.}} {{end}}' "$1" </dev/null 2>/dev/null); do
  docker rmi "$name" </dev/null >&2 || exit
done
if docker image inspect "$1" </dev/null >/dev/null 2>&1; then docker rmi "$1" </dev/null >&2 || exit; fi
grep -v "^$1 " "$MQCTL_DIR/pulled" >"$MQCTL_DIR/.trash/in.$MQCTL_FENCE.pulled"
mv "$MQCTL_DIR/.trash/in.$MQCTL_FENCE.pulled" "$MQCTL_DIR/pulled"
