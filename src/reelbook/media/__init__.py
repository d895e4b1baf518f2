"""Pictures and clips as files: what Pillow and PyAV do for the rest. Knows nothing of the network.

Import the modules where they are used: they load Pillow, NumPy or PyAV.
"""
