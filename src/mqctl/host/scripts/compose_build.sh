# PROJECT DIRECTORY FILE CHECKOUTS: build what is built here. DIRECTORY as it will be applied.
# shellcheck disable=SC2086 # checkouts are directories without blanks
veto_dirty $4
use_registries
# Staged files take their places first: a build context is read from there.
install_next "$1" || exit 73
compose "$1" "$2" "$3" "projects/$1/.mqctl/override.yaml" "$CRED/env" build --quiet >&2
