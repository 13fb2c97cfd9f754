# PROJECT MARKER CHECKOUT URL BRANCH: clone into a temporary folder, then rename: no half clone is seen.
project=$1 marker=$2 name=$3 url=$4 branch=$5
rmdir "projects/$project/$name" 2>/dev/null # Docker makes an empty one for a bind mount
if [ -e "projects/$project/$name" ]; then echo "projects/$project/$name is in the way" >&2; exit 73; fi
use_credentials repo
umask 022 # what a container mounts it must be able to read; the folders above are private
temporary="$MQCTL_DIR/.trash/in.$MQCTL_FENCE.clone.$$"
rm -rf "$temporary"
g clone --quiet --template= --no-tags --branch "$branch" -- "$url" "$temporary" || { status=$?; rm -rf "$temporary"; exit $status; }
mkdir -p "projects/$project/.mqctl"
[ -e "projects/$project/.mqctl/owner.json" ] || printf '%s' "$marker" >"projects/$project/.mqctl/owner.json"
# mv would move *into* a directory that is in the way.
if [ -e "projects/$project/$name" ]; then rm -rf "$temporary"; echo "projects/$project/$name is in the way" >&2; exit 73; fi
mv "$temporary" "projects/$project/$name" || exit
git_state "projects/$project/$name" "$branch"
