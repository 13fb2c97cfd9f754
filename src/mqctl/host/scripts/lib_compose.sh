# Compose with an environment of our making: what the host's shell happens to export must not reach
# the ${...} of a Compose file.
clean() {
  # DOCKER_HOST and the like say where the engine is, and nothing else.
  env -i PATH="$PATH" HOME="$HOME" LC_ALL=C \
    ${DOCKER_HOST:+DOCKER_HOST="$DOCKER_HOST"} ${DOCKER_CONTEXT:+DOCKER_CONTEXT="$DOCKER_CONTEXT"} \
    ${DOCKER_CONFIG:+DOCKER_CONFIG="$DOCKER_CONFIG"} ${XDG_RUNTIME_DIR:+XDG_RUNTIME_DIR="$XDG_RUNTIME_DIR"} \
    "$@" </dev/null
}

# compose PROJECT DIRECTORY FILE OVERRIDE ENVFILE WORDS...; OVERRIDE may be "".
compose() {
  c_project=$1 c_dir=$2 c_file=$3 c_override=$4 c_env=$5
  shift 5
  # Authors expect the .env beside their file to count; ours comes later and wins.
  c_dotenv=
  if [ -f "$c_dir/.env" ]; then c_dotenv=$c_dir/.env; fi
  clean docker compose --project-name "$c_project" --project-directory "$c_dir" --file "$c_file" \
    ${c_override:+--file "$c_override"} ${c_dotenv:+--env-file "$c_dotenv"} --env-file "$c_env" \
    --ansi never --progress plain "$@"
}

# The registries' accounts, for this command alone. A DOCKER_CONFIG of our own hides per-user plugins.
use_registries() {
  [ -e "$CRED/docker.json" ] || return 0
  mkdir "$CRED/docker" && mv "$CRED/docker.json" "$CRED/docker/config.json" || exit 73
  own=${DOCKER_CONFIG:-$HOME/.docker}
  for name in cli-plugins contexts; do
    if [ -e "$own/$name" ]; then ln -s "$own/$name" "$CRED/docker/$name"; fi
  done
  export DOCKER_CONFIG="$CRED/docker"
}
