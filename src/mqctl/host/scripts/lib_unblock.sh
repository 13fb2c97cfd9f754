# unblock PROJECT "ID ID...": containers that keep Compose from its work: paused ones go on, and what
# was never started (a leftover of an interrupted recreate, say) is removed, by its full id.
unblock() {
  for id in $2; do
    line=$(docker inspect --type container --format '{{.State.Status}} {{index .Config.Labels "com.docker.compose.project"}}' "$id" </dev/null 2>/dev/null) || continue
    case $line in
      "paused $1") docker unpause "$id" </dev/null >&2 || return ;;
      "created $1") docker rm "$id" </dev/null >&2 || return ;;
    esac
  done
}
