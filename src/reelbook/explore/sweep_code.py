"""A sweep as code that plans the same cells: for a cell of a notebook, and as a script that buys them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

from ..errors import InvalidInput
from ..session.request_code import script

_PICTURES: Final = "# pictures: those that the clips start from, in their order, as paths or PIL images."
_LISTED: Final = 4  # more numbers in a row are written as their first and last


def sweep_code(record: Mapping[str, Any], cost_usd: float, kind: Literal["cell", "script"] = "cell") -> str:
    """The code of a sweep's record. A cell only plans, a script buys, and says so. Raises InvalidInput."""
    sweep = _sweep(record)
    if kind == "cell":
        return f"{sweep}\nprint(sweep.plan(session))\n# sweep.run(session, confirm=True) buys it."
    if kind == "script":
        body = [
            "for cell in sweep.cells:",
            "    accepted = await client.submit(cell.request)",
            "    print(cell.number, accepted.request_id, cell.request.prompt)",
        ]
        return script(len(record["cells"]), cost_usd, body, sweep)
    raise InvalidInput('The code of a sweep is there as "cell" or "script".')


def _sweep(record: Mapping[str, Any]) -> str:
    axes = {each["name"]: each["values"] for each in record["axes"] if each["name"] != "prompt"}
    given = [json.dumps(record["template"], ensure_ascii=False)]
    given += [f"{name}={_values(name, values)}" for name, values in axes.items()]
    options = {
        "wildcards": {name: list(values) for name, values in record["wildcards"].items()},
        "design": None if record["design"] == "grid" else record["design"],
        "sample": record["sample"],
        "base": {name: value for name, value in record["base"].items() if name != "image"},
        "design_seed": record["design_seed"] or None,
        "name": record["name"],
    }
    given += [f"{name}={_written(value)}" for name, value in options.items() if value]
    notes = [_PICTURES] if "image" in axes else []
    return "\n".join([*notes, "sweep = rb.Sweep(", *(f"    {each}," for each in given), ")"])


def _values(name: str, values: Sequence[Any]) -> str:
    if name == "image":
        return "pictures"
    whole = all(isinstance(each, int) and each >= 0 for each in values)
    if whole and len(values) > _LISTED and list(values) == list(range(values[0], values[-1] + 1)):
        return f'"{values[0]}-{values[-1]}"'
    return _written(list(values))


def _written(value: Any) -> str:
    """JSON's texts, numbers, lists and mappings read the same in Python."""
    return json.dumps(value, ensure_ascii=False)
