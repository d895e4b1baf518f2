"""A service's refusals: an HTTP status, and words for a person."""


class Refused(Exception):
    """The request can't be granted: the HTTP `status`, and `detail` for a person."""

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail


class NoMoney(Refused):
    """The balance doesn't pay for the clip (interface, Errors: 402); both amounts in USD."""

    def __init__(self, left_usd: float, required_usd: float) -> None:
        said = f"Insufficient balance. Current balance: ${left_usd:.2f}, required: ${required_usd:.2f}"
        super().__init__(402, said)
        self.required_usd = required_usd
