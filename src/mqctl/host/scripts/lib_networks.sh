# cut_off PROJECT: the services with a container whose network is gone. Docker refuses to start it
# ("network ... not found"), and Compose, which looks at the configuration alone, tries for ever.
cut_off() {
  c_ids=$(docker ps -aq --no-trunc --filter "label=com.docker.compose.project=$1" \
    --filter label=com.docker.compose.oneoff=False --filter status=running --filter status=exited </dev/null)
  [ -n "$c_ids" ] || return 0
  c_there=$(docker network ls -q --no-trunc </dev/null) || return 0
  # shellcheck disable=SC2086 # ids, one a word
  docker inspect --type container --format '{{index .Config.Labels "com.docker.compose.service"}} {{.HostConfig.NetworkMode}}{{range .NetworkSettings.Networks}} {{.NetworkID}}{{end}}' $c_ids </dev/null 2>/dev/null |
    while read -r c_service c_mode c_nets; do
      case $c_mode in container:* | host | none | bridge | default) continue ;; esac
      for c_net in ${c_nets:-none}; do
        printf '%s\n' "$c_there" | grep -Fqx -e "$c_net" || printf '%s\n' "$c_service"
      done
    done | sort -u
}
