"""The version of Reelbook, for whoever names it: package, sandbox, command and tool client."""

VERSION = "0.1.0"
