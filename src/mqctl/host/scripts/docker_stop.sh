# PROJECT IDS...: stop containers that still belong to the project; each by its own grace.
project=$1
shift
ids=
for id in "$@"; do
  owner=$(docker inspect --type container --format '{{index .Config.Labels "com.docker.compose.project"}}' "$id" </dev/null 2>/dev/null) || continue
  [ "$owner" = "$project" ] && ids="$ids $id"
done
# shellcheck disable=SC2086 # ids, one a word
[ -z "$ids" ] || docker stop $ids </dev/null >&2
