"""A test bed of real servers: Redis, Docker hosts behind SSH, a registry and a Git server.

    with Bed() as bed:
        bed.seed_images()
        east, west = bed.hosts("east-1", "west-1")
        subprocess.run(["mqctl", ...], env=bed.env())

Each host is a private machine (see `box.py`) with its own ports, processes and Docker daemon;
everything ends with the test process, however that ends. `python -m tests.bed` keeps one open.
"""

from tests.bed.bed import Bed
from tests.bed.git_server import GitRepo, GitServer
from tests.bed.host import Host
from tests.bed.images import KINDS, Kind
from tests.bed.packages import MissingPartsError, ensure
from tests.bed.redis_server import RedisServer
from tests.bed.registry import Registry
from tests.bed.supervisor import BedError, Supervisor, wait_until

__all__ = [
    "KINDS",
    "Bed",
    "BedError",
    "GitRepo",
    "GitServer",
    "Host",
    "Kind",
    "MissingPartsError",
    "RedisServer",
    "Registry",
    "Supervisor",
    "ensure",
    "wait_until",
]
