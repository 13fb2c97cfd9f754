# PROJECT FLEET MARQUEE VOLUMES CHECKOUTS: remove a project by its name alone: its Compose file may
# be gone. VOLUMES is "volumes" to remove them too. Only what carries all of our labels is touched.
project=$1 fleet=$2 marquee=$3 volumes=$4
# shellcheck disable=SC2086 # checkouts are directories without blanks
veto_dirty $5
foreign=$(docker ps -a --no-trunc --filter "label=com.docker.compose.project=$project" \
  --format '{{.Label "mqctl.fleet"}}/{{.Label "mqctl.marquee"}}' </dev/null | grep -vFx -c -e "$fleet/$marquee")
if [ "$foreign" != 0 ]; then echo "veto foreign"; exit 0; fi
# Not `compose down`: without a Compose file it cannot know the volumes, and with one it asks for env.
ids=$(docker ps -aq --no-trunc --filter "label=com.docker.compose.project=$project" \
  --filter "label=mqctl.fleet=$fleet" --filter "label=mqctl.marquee=$marquee" </dev/null) || exit
# shellcheck disable=SC2086 # ids, one a word
if [ -n "$ids" ]; then
  docker stop $ids </dev/null >&2
  docker rm --force $ids </dev/null >&2 || exit
fi
nets=$(docker network ls -q --no-trunc --filter "label=com.docker.compose.project=$project" \
  --filter "label=mqctl.fleet=$fleet" --filter "label=mqctl.marquee=$marquee" </dev/null) || exit
# shellcheck disable=SC2086
[ -z "$nets" ] || docker network rm $nets </dev/null >&2 || exit
if [ "$volumes" = volumes ]; then
  names=$(docker volume ls -q --filter "label=com.docker.compose.project=$project" </dev/null) || exit
  # shellcheck disable=SC2086
  [ -z "$names" ] || docker volume rm $names </dev/null >&2 || exit
fi
