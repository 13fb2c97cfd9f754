# PROJECT DIRECTORY FILE SERVICES -- CONTAINERS: bring stuck services back. CONTAINERS are ids that
# are in the way: paused ones are unpaused, never-started leftovers removed (by full id).
project=$1 dir=$2 file=$3
shift 3
services=
while [ $# -gt 0 ] && [ "$1" != -- ]; do services="$services $1"; shift; done
[ $# -gt 0 ] && shift
for id in "$@"; do
  line=$(docker inspect --type container --format '{{.State.Status}} {{index .Config.Labels "com.docker.compose.project"}}' "$id" </dev/null 2>/dev/null) || continue
  case $line in
    "paused $project") docker unpause "$id" </dev/null >&2 || exit ;;
    "created $project") docker rm "$id" </dev/null >&2 || exit ;;
  esac
done
# shellcheck disable=SC2086 # service names hold no blanks
[ -z "$services" ] || compose "$project" "$dir" "$file" "projects/$project/.mqctl/override.yaml" "$CRED/env" \
  up --detach --no-build --no-deps --force-recreate --pull never $services >&2
