"""What a service of this interface needs of HTTP: the sandbox and a class's room stand on it.

`listening` opens sockets and runs a server on them, `connections` bounds its connections, `payloads` reads
requests, and `limits` counts them. It knows neither of the two.
"""
