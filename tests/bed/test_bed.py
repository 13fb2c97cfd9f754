"""The bed itself: what the other tests take for granted."""

import functools
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.bed import Bed, Host, MissingPartsError, RedisServer, packages, wait_until
from tests.bed.bed import PRIVATE

ROOT = Path(__file__).parents[2]
CASES = Path(__file__).parents[1] / "cases" / "compose"


@pytest.fixture(scope="module")
def bed() -> Iterator[Bed]:
    with Bed() as made:
        made.seed_images()
        yield made


@pytest.fixture(scope="module")
def hosts(bed: Bed) -> list[Host]:
    return bed.hosts("east-1", "west-1")


@pytest.fixture
def east(hosts: list[Host]) -> Host:
    return hosts[0]


def ssh(bed: Bed, host: Host, script: str, user: str | None = None) -> str:
    folder = bed.client_home() / ".ssh"
    argv = ["ssh", "-F", str(folder / "config"), "-o", f"UserKnownHostsFile={folder}/known_hosts"]
    argv += ["-o", "StrictHostKeyChecking=yes", "-o", "BatchMode=yes", "-l", user or host.user]
    done = subprocess.run([*argv, host.name, script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def http(port: int, path: str = "/") -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=5) as answer:
        return str(answer.read().decode())


def compose_up(host: Host, name: str, case: str) -> None:
    shutil.copytree(CASES / case, host.home / name)
    host.sh(f"cd ~/{name} && docker compose -p {name} up -d --quiet-pull </dev/null")


def test_each_host_looks_like_a_machine_of_its_own(bed: Bed, hosts: list[Host]) -> None:
    said = [ssh(bed, host, "hostname; whoami; pwd; docker compose version") for host in hosts]
    for host, lines in zip(hosts, said, strict=True):
        expected = [host.name, "deploy", str(host.home)]
        assert lines.splitlines()[:3] == expected
        assert "2.26" in lines
    assert os.uname().nodename not in {host.name for host in hosts}


def test_a_user_without_rights_gets_them_through_sudo(bed: Bed, east: Host) -> None:
    assert ssh(bed, east, "id -u; sudo -n id -u; sudo -n docker ps -q", east.sudo_user) == (
        "2000\n0\n"
    )


def test_public_names_come_from_the_beds_registry_and_tags_can_move(bed: Bed, east: Host) -> None:
    bed.registry.reset_counts()
    for marker in ("1", "2"):
        pushed = bed.registry.push("example/moving:latest", marker=marker)
        east.docker("pull", "-q", "example/moving:latest")
        assert east.docker("image", "inspect", "-f", "{{.Id}}", "example/moving").strip() == pushed
    assert "example/moving:latest" in bed.registry.pulls()


def test_the_private_registry_wants_a_password(bed: Bed, east: Host) -> None:
    bed.private_registry.push("acme/secret:1")
    name = f"{PRIVATE}/acme/secret:1"
    assert "no basic auth" in east.sh(f"docker pull {name} 2>&1", check=False)
    login = f"echo pw | docker login -u acme --password-stdin {PRIVATE} 2>/dev/null"
    east.sh(f"export DOCKER_CONFIG=$(mktemp -d) && {login} && docker pull -q {name}")
    assert "acme/secret" in east.docker("images")


def test_two_hosts_publish_the_same_port_and_only_forwarding_reaches_it(
    bed: Bed, hosts: list[Host]
) -> None:
    for host in hosts:
        bed.registry.push("example/http:1", "http", marker=host.name)
        host.docker("run", "-d", "--name", "site", "-p", "80:8080", "example/http:1")
        port = host.forward(80)
        wait_until(functools.partial(_answers, port), "the container's web server")
        assert http(port) == host.name
        assert http(port, "/api/health") == "ok\n"
        host.docker("rm", "-f", "site")


def _answers(port: int) -> bool:
    try:
        return bool(http(port))
    except OSError:
        return False


@pytest.mark.parametrize("case", ["gitea-postgres", "nextcloud-redis-mariadb"])
def test_other_peoples_projects_come_up(east: Host, case: str) -> None:
    compose_up(east, case, case)
    shown = east.docker("ps", "--format", "{{.Names}} {{.State}} {{.Ports}}")
    assert f"{case}-db-1 running" in shown
    published = "3000" if case.startswith("gitea") else "80"
    assert f"0.0.0.0:{published}->{published}/tcp" in shown
    assert f":{published} " in east.sh("ss -ltn")
    began = time.monotonic()
    east.sh(f"docker compose -p {case} down -v </dev/null")
    assert time.monotonic() - began < 8, "the images end promptly"


def test_containers_find_each_other_by_name(bed: Bed, east: Host) -> None:
    bed.registry.push("example/http:1", "http")
    project = east.home / "names"
    project.mkdir()
    (project / "compose.yaml").write_text(
        "services:\n  web: {image: 'example/http:1'}\n  asker: {image: 'nginx:alpine'}\n"
    )
    east.sh("cd ~/names && docker compose up -d --quiet-pull --wait </dev/null")
    assert east.docker("exec", "names-asker-1", "wget", "-qO-", "http://web:8080/health") == "ok\n"
    east.sh("docker compose -p names down </dev/null")


def test_an_image_is_built_on_the_host(east: Host) -> None:
    (east.home / "built").mkdir()
    (east.home / "built" / "Dockerfile").write_text("FROM nginx:alpine\nRUN echo made > /made\n")
    east.sh("cd ~/built && docker build -q -t made .")
    assert east.docker("run", "--rm", "--entrypoint", "cat", "made", "/made") == "made\n"


def test_kinds_of_images_behave_as_named(bed: Bed, east: Host) -> None:
    for kind in ("crash", "oneshot", "unhealthy", "healthy"):
        bed.registry.push(f"example/{kind}:1", kind)
        east.docker("run", "-d", "--name", kind, "--restart", "on-failure", f"example/{kind}:1")

    def state(name: str) -> str:
        form = "{{.State.Status}} {{.State.ExitCode}} {{with .State.Health}}{{.Status}}{{end}}"
        return east.docker("inspect", "-f", form, name).strip()

    wait_until(lambda: state("unhealthy") == "running 0 unhealthy", "unhealthy")
    wait_until(lambda: state("healthy") == "running 0 healthy", "healthy")
    wait_until(lambda: state("oneshot") == "exited 0", "oneshot")
    wait_until(lambda: "restarting 1" in state("crash"), "crash")
    east.docker("exec", "healthy", "touch", "/sick")
    wait_until(lambda: state("healthy").endswith("unhealthy"), "becoming unhealthy")
    east.docker("rm", "-f", "crash", "oneshot", "unhealthy", "healthy")


def test_git_over_ssh_from_a_host(bed: Bed, east: Host) -> None:
    repo = bed.git.repo("acme/shop")
    first = repo.commit({"README": "one\n", "bin/run": "#!/bin/sh\n"})
    second = repo.commit({"README": "two\n"}, message="two")
    repo.branch("feature/login", first)
    bed.git.reset_counts()
    with_key = f"GIT_SSH_COMMAND='ssh -o BatchMode=yes -i {bed.git.ssh_key}'"
    east.sh(f"{with_key} git clone -q {repo.url} shop && cd shop && [ -x bin/run ]")
    assert east.sh("git -C shop rev-parse HEAD").strip() == second
    listed = east.sh(f"{with_key} git ls-remote {repo.ssh_url} refs/heads/feature/login")
    assert listed.split()[0] == first
    assert bed.git.fetches() == 2
    rewritten = repo.force_push({"README": "other\n"}, onto=first)
    east.sh(f"{with_key} git -C shop fetch -q")
    assert east.sh("git -C shop rev-parse origin/main").strip() == rewritten
    repo.delete_branch("feature/login")
    assert repo.tip("feature/login") is None


def test_git_over_https_wants_the_token(bed: Bed, east: Host) -> None:
    repo = bed.git.repo("acme/web")
    tip = repo.commit({"index.html": "hi\n"})
    east.sh("GIT_TERMINAL_PROMPT=0 git ls-remote " + repo.https_url + " && exit 1 || exit 0")
    with_token = repo.https_url.replace("https://", f"https://{bed.git.user}:{bed.git.token}@")
    east.sh(f"git clone -q {with_token} web")
    assert east.sh("git -C web rev-parse HEAD").strip() == tip


def test_connections_channels_and_api_requests_are_counted(bed: Bed, east: Host) -> None:
    east.reset_counts()
    ssh(bed, east, "docker ps -q")
    assert (east.connections(), east.channels()) == (1, 1)
    assert [call.split("?")[0] for call in east.api_calls()] == [
        "HEAD /_ping",
        "GET /v1.41/containers/json",
    ]


def test_a_connection_can_be_cut_frozen_and_lost(bed: Bed, east: Host) -> None:
    for break_it in (east.cut, east.kill_sessions):
        folder = bed.client_home() / ".ssh"
        argv = ["ssh", "-F", f"{folder}/config", "-o", f"UserKnownHostsFile={folder}/known_hosts"]
        with subprocess.Popen(
            [*argv, east.name, "echo on; exec sleep 77"], stdout=subprocess.PIPE
        ) as client:
            assert client.stdout is not None
            assert client.stdout.readline() == b"on\n"
            break_it()
            assert client.wait(10) == 255
        assert ssh(bed, east, "echo back") == "back\n"
    east.partition()
    with socket.create_connection((east.host, east.port), timeout=0.3) as probe:
        with pytest.raises(TimeoutError):
            probe.recv(1)
        east.heal()
        probe.settimeout(5)
        assert probe.recv(7) == b"SSH-2.0"


def test_docker_and_sshd_stop_and_come_back(bed: Bed, hosts: list[Host]) -> None:
    west = hosts[1]
    west.docker("run", "-d", "--name", "kept", "--restart", "always", "nginx:alpine")
    for kill in (False, True):
        west.stop_docker(kill=kill)
        assert "Cannot connect" in west.sh("docker ps 2>&1", check=False)
        west.start_docker()
        assert west.docker("ps", "--format", "{{.Names}}").strip() == "kept"
    west.pause_docker()
    with pytest.raises(subprocess.TimeoutExpired):
        west.docker("ps", timeout=0.5)
    west.resume_docker()
    before = west.known_hosts_file.read_text()
    west.rotate_host_key()
    assert ssh(bed, west, "echo in") == "in\n"
    assert before.split()[2] not in (bed.client_home() / ".ssh" / "known_hosts").read_text()


def test_a_reboot_keeps_the_disks_only(bed: Bed, hosts: list[Host]) -> None:
    west = hosts[1]
    west.docker("run", "-d", "--name", "server", "--restart", "always", "nginx:alpine")
    west.sh("echo kept > ~/kept; echo gone > /run/gone; cp /etc/hostname /etc/kept")
    before = ssh(bed, west, "cat /proc/sys/kernel/random/boot_id")
    west.reboot()
    assert ssh(bed, west, "cat ~/kept; ls /run/gone 2>/dev/null || ls /etc/kept") == (
        "kept\n/etc/kept\n"
    )
    assert ssh(bed, west, "cat /proc/sys/kernel/random/boot_id") != before
    wait_until(lambda: "server" in west.docker("ps"), "the container's restart")
    west.docker("rm", "-f", "server")


def test_redis_freezes_stops_and_keeps_its_address(bed: Bed, tmp_path: Path) -> None:
    with RedisServer(tmp_path / "redis", args=["--appendonly", "yes"]) as redis:
        redis.cli("set", "a", "1")
        redis.pause()
        with pytest.raises(subprocess.TimeoutExpired):
            subprocess.run(["redis-cli", "-p", str(redis.port), "ping"], timeout=0.3, check=False)
        redis.resume()
        redis.kill()
        redis.start()
        assert redis.cli("get", "a") == "1"
    assert bed.redis.cli("ping") == "PONG"
    assert bed.env()["MQCTL_REDIS_URL"] == bed.redis.url


def test_missing_parts_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages, "SEARCH_PATH", "/nowhere")
    monkeypatch.setattr(packages, "_install", lambda _: None)
    with pytest.raises(MissingPartsError) as caught:
        packages.ensure()
    for part in packages.PARTS:
        assert f"{part.program} is missing ({part.purpose}): apt-get install" in str(caught.value)


def test_nothing_is_left_of_a_run_that_was_killed() -> None:
    script = (
        "import json, time; from tests.bed import Bed\n"
        "bed = Bed(); bed.seed_images(); host = bed.host('doomed'); bed.redis\n"
        "host.docker('run', '-d', '--restart', 'always', 'nginx:alpine')\n"
        "print(json.dumps(str(bed.folder)), flush=True); time.sleep(600)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script], cwd=ROOT, stdout=subprocess.PIPE
    ) as victim:
        assert victim.stdout is not None
        folder = Path(json.loads(victim.stdout.readline()))
        assert _processes_of(folder)
        victim.send_signal(signal.SIGKILL)
    wait_until(lambda: not _processes_of(folder) and not folder.exists(), "the end of all")
    assert str(folder) not in Path("/proc/mounts").read_text()
    assert not list(Path("/sys/fs/cgroup").rglob(f"*{folder.name}*"))


def _processes_of(folder: Path) -> list[str]:
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            command = (entry / "cmdline").read_bytes().decode(errors="replace")
            groups = (entry / "cgroup").read_text()
        except OSError:
            continue
        if f"{folder}/" in command or folder.name in groups:
            found.append(command)
    return found
