"""What the client says of a paid request's attempts, kept in order."""

from reelbook.client.client import SubmissionRecord
from reelbook.errors import ReelbookError


class Heard(list[str], SubmissionRecord):
    """A `SubmissionRecord` that lists what it hears."""

    def sending(self) -> None:
        self.append("sent")

    def unsent(self) -> None:
        self.append("no effect")

    def unanswered(self, error: ReelbookError) -> None:
        self.append(type(error).__name__)
