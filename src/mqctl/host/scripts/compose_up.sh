# PROJECT DIRECTORY FILE CHECKOUTS BLOCKING WORDS...: put staged files in place and apply. CHECKOUTS ""
# asks for no veto (nothing of theirs is rebuilt or replaced).
project=$1 dir=$2 file=$3
# shellcheck disable=SC2086 # checkouts are directories without blanks
veto_dirty $4
unblock "$project" "$5" || exit
shift 5
install_next "$project" || exit 73
compose "$project" "$dir" "$file" "projects/$project/.mqctl/override.yaml" "$CRED/env" up --detach --no-build --pull never "$@" >&2
