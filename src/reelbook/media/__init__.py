"""Pictures and clips as files: what Pillow and PyAV do for the rest. Knows nothing of the network.

`images` prepares a still for the service, `clips` looks into a finished video. Import them where they are
used: both load their library.
"""
