"""Whose answer it is: a status belongs to the job that was asked about, whatever id stands in it."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING

from ..errors import Answer, UnexpectedAnswer
from ..lazy_module import LazyModule

if TYPE_CHECKING:
    from .. import models
    from ..models import JobStatus
else:
    models = LazyModule("reelbook.models")

_log = logging.getLogger(__name__)

# A cache that mixes up two jobs does so now and then; a service that says one id for all jobs always does.
MIXED_UP_ANSWERS = 2
SHOWN_CHARACTERS = 80


class JobIds:
    """The ids of a client's jobs. `is_known` tells whether an id is that of a job its caller knows."""

    def __init__(self, is_known: Callable[[str], bool] | None = None) -> None:
        self._is_known = is_known or (lambda _: False)
        self._links: dict[str, str | None] = {}  # of every job that was submitted or asked about
        self._misnamed: Counter[str] = Counter()
        self._told = False

    def add(self, request_id: str) -> None:
        """There is a job of this id."""
        self._links.setdefault(request_id, None)

    def own(self, request_id: str, status: JobStatus) -> JobStatus:
        """The status of `request_id`, under that id. Another one in it is logged, once.

        Raises UnexpectedAnswer where the answer seems to be another job's.
        """
        self.add(request_id)
        said = status.request_id
        if said == request_id:
            del self._misnamed[request_id]
        else:
            self._misnamed[request_id] += 1
            self._tell(request_id, said)
            if self._is_anothers(request_id, status):
                raise UnexpectedAnswer(
                    f"Asked about “{request_id}”, the service told of “{said}”, which is another job. "
                    "That isn't believed.",
                    answer=Answer(200),
                )
            status = status.model_copy(update={"request_id": request_id})
        if isinstance(status, models.Completed):
            self._links[request_id] = status.video_url
        return status

    def _is_anothers(self, request_id: str, status: JobStatus) -> bool:
        said = status.request_id
        if said not in self._links and not self._is_known(said):
            return False
        if isinstance(status, models.Failed):
            return True  # believed wrongly, it would cost a clip that was paid for
        if isinstance(status, models.Completed) and status.video_url in (None, self._links.get(said)):
            return True
        return self._misnamed[request_id] <= MIXED_UP_ANSWERS

    def _tell(self, request_id: str, said: str) -> None:
        if not self._told:
            self._told = True
            _log.warning(
                "Asked about job %r, the service answered with another id, %r. The id that was asked about "
                "counts; this is said once.",
                request_id[:SHOWN_CHARACTERS],
                said[:SHOWN_CHARACTERS],
            )
