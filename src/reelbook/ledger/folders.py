"""Whether a folder lies on a network: SQLite's WAL needs shared memory, which such folders don't have."""

from __future__ import annotations

import os
import re
from pathlib import Path

MOUNTS = Path("/proc/mounts")

# Every FUSE is taken for a network (Drive, sshfs, rclone), but for those that are known to be local disks.
_NETWORK = (
    *("nfs", "cifs", "smb", "ncpfs", "afs", "9p"),
    *("ceph", "gluster", "lustre", "davfs", "virtiofs", "vboxsf"),
)
_OCTAL = re.compile(r"\\([0-7]{3})")  # how that file writes spaces and tabs
_LOCAL_FUSE = ("fuseblk", "fuse.fuse-overlayfs", "fuse.ntfs", "fuse.exfat")


def on_network(folder: Path, mounts: str | None = None) -> bool:
    """Whether `folder` lies on a network or FUSE mount, such as a mounted Drive.

    `mounts` is the text of /proc/mounts, read where it isn't given. False where the system has none and the
    folder is no Windows share.
    """
    if str(folder).startswith(("\\\\", "//")) and os.name == "nt":
        return True
    if mounts is None:
        try:
            mounts = MOUNTS.read_text(errors="replace")
        except OSError:
            return False
    kind, depth = "", -1
    for line in mounts.splitlines():
        fields = line.split(" ")
        if len(fields) < 3:
            continue
        mount = Path(_OCTAL.sub(lambda found: chr(int(found[1], 8)), fields[1]))
        # A later mount hides an earlier one at the same place.
        if folder.is_relative_to(mount) and len(mount.parts) >= depth:
            kind, depth = fields[2], len(mount.parts)
    if kind.startswith("fuse"):
        return not kind.startswith(_LOCAL_FUSE)
    return kind.startswith(_NETWORK)
