# PROJECT DIRECTORY FILE BLOCKING SERVICES...: bring stuck services back as they were applied.
project=$1 dir=$2 file=$3
unblock "$project" "$4" || exit
shift 4
[ $# -eq 0 ] || compose "$project" "$dir" "$file" "projects/$project/.mqctl/override.yaml" "$CRED/env" \
  up --detach --no-build --no-deps --force-recreate --pull never "$@" >&2
