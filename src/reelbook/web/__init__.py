"""What a service of this interface needs of HTTP and SQLite: the sandbox and a class's room stand on it.

`listening` opens sockets and runs a server on them, `connections` bounds its connections, `payloads` reads
requests, `refusals` says no, `limits` counts, and `database` opens a file. It knows neither of the two.
"""
