"""Which folders lie on a network."""

from __future__ import annotations

from pathlib import Path

import pytest

from reelbook.ledger.folders import on_network

MOUNTS = """\
overlay / overlay rw,relatime 0 0
proc /proc proc rw 0 0
/dev/sda1 /home ext4 rw 0 0
drive /content/drive fuse.drive rw,nosuid 0 0
server:/export /home/shared nfs4 rw 0 0
//server/share /mnt/a\\040share cifs rw 0 0
/dev/sdb1 /mnt/stick fuseblk rw 0 0
C: /mnt/c 9p rw 0 0
server:/old /srv nfs rw 0 0
/dev/sdc1 /srv ext4 rw 0 0
odd line
"""


@pytest.mark.parametrize(
    ("folder", "expected"),
    [
        ("/root/.local/share/reelbook", False),
        ("/home/someone", False),
        ("/content/drive/MyDrive/reelbook", True),
        ("/content/driver", False),
        ("/home/shared/reelbook", True),
        ("/mnt/a share/reelbook", True),
        ("/mnt/stick", False),
        ("/mnt/c/Users", True),
        ("/srv/reelbook", False),
    ],
)
def test_a_folder_is_on_the_network_of_its_nearest_mount(folder: str, expected: bool) -> None:
    """NFS, SMB, 9p and FUSE such as Drive; not a local disk's FUSE, nor a disk that hides a network."""
    assert on_network(Path(folder), MOUNTS) == expected


def test_this_machines_mounts_can_be_read(tmp_path: Path) -> None:
    """Without a list of mounts the system's own is taken: a temporary folder is local."""
    assert not on_network(tmp_path)
