"""A server that answers with exactly the bytes a test gives it: for faults that no honest server makes."""

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

Handler = Callable[["Exchange"], None]


@dataclass
class Exchange:
    """One connection: the request's head and body as they came, and the socket to answer on."""

    head: str
    body: bytes
    connection: socket.socket

    @property
    def first_line(self) -> str:
        return self.head.split("\r\n", 1)[0]

    def header(self, name: str) -> str | None:
        for line in self.head.split("\r\n")[1:]:
            key, _, value = line.partition(":")
            if key.strip().lower() == name.lower():
                return value.strip()
        return None

    def send(self, data: bytes) -> None:
        with contextlib.suppress(OSError):
            self.connection.sendall(data)

    def answer(self, status: int, body: bytes = b"", headers: dict[str, str] | None = None) -> None:
        lines = [f"HTTP/1.1 {status} X", f"content-length: {len(body)}", "connection: close"]
        lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
        self.send("\r\n".join(lines).encode() + b"\r\n\r\n" + body)

    def hold(self, seconds: float = 60) -> None:
        """Answers nothing until the client is gone, or so long."""
        self.connection.settimeout(seconds)
        self.connection.recv(1)

    def keep_open(self) -> None:
        """The connection outlives the handler, and ends with the server."""
        self.connection = self.connection.dup()

    def answer_part(self, data: bytes, *, until: int | None = None) -> None:
        """Serves `data` from the range that was asked for, and breaks off at `until`."""
        start = int((self.header("range") or "bytes=0-")[6:].rstrip("-"))
        head = [f"HTTP/1.1 {206 if start else 200} X", 'etag: "v1"', f"content-length: {len(data) - start}"]
        if start:
            head.append(f"content-range: bytes {start}-{len(data) - 1}/{len(data)}")
        self.send("\r\n".join(head).encode() + b"\r\n\r\n" + data[start:until])

    def reset(self) -> None:
        """Ends the connection with a RST."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        self.connection.close()


def in_turn(*handlers: Handler) -> Handler:
    """The first request is handled by the first handler, and so on."""
    left = iter(handlers)
    return lambda exchange: next(left)(exchange)


@dataclass
class RawServer:
    url: str
    seen: list[Exchange] = field(default_factory=list)

    @property
    def posts(self) -> int:
        """How many submissions arrived."""
        return sum(exchange.first_line.startswith("POST") for exchange in self.seen)


@contextlib.contextmanager
def raw_server(handler: Handler, *, read_at_most: int | None = None) -> Iterator[RawServer]:
    """Serves one request a connection with `handler`; `seen` keeps the requests in their order.

    With `read_at_most` a connection is reset once that many bytes of a request were read.
    """
    listener = socket.create_server(("127.0.0.1", 0))
    server = RawServer(f"http://127.0.0.1:{listener.getsockname()[1]}")

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection, contextlib.suppress(OSError):  # a client that gave up may reset it
                if read_at_most is not None:
                    connection.recv(read_at_most)
                    Exchange("", b"", connection).reset()
                elif (exchange := _read(connection)) is not None:
                    server.seen.append(exchange)
                    handler(exchange)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        # A listener that is only closed leaves accept() waiting in its thread.
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(60)
        for exchange in server.seen:
            exchange.connection.close()


def _read(connection: socket.socket) -> Exchange | None:
    data = b""
    while b"\r\n\r\n" not in data:
        chunk = connection.recv(65536)
        if not chunk:
            return None
        data += chunk
    head, _, body = data.partition(b"\r\n\r\n")
    exchange = Exchange(head.decode("latin-1"), body, connection)
    length = int(exchange.header("content-length") or 0)
    while len(body) < length:
        chunk = connection.recv(65536)
        if not chunk:
            return None
        body += chunk
    exchange.body = body
    return exchange
