"""What a service of this interface needs of HTTP and SQLite: the base of the sandbox and of a class's room.

`listening` opens sockets and runs a server on them, `application` is what it serves, `connections` bounds its
connections, `payloads` reads requests, `refusals` refuses them, `limits` counts, and `database` opens a file.
It knows neither of the two.
"""
