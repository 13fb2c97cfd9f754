# ID...: all containers observed again, and those of the given ids with what only inspect knows.
echo '@time'; date +%s
echo '@images'; docker_images 2>&1 || echo "@failed images $?"
echo '@containers'; docker_ps 2>&1 || echo "@failed containers $?"
# One that vanished meanwhile is no failure.
echo '@inspections'; docker_inspect "$@"
echo '@end'
