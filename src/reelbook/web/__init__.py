"""HTTP and SQLite for servers of this interface: what the sandbox and a class's room are built on.

`listening` opens sockets and runs a server on them, `application` is what it serves, `connections` bounds its
connections, `payloads` reads requests, `refusals` refuses them, `limits` counts, `database` opens a file, and
`pages` and `html` are the look of both servers' pages.
"""
