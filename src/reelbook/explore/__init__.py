"""Exploring prompts: templates, and sweeps that vary one or several things and keep the rest."""

from .axes import Axis, Cell
from .plan import Plan
from .run import RunCell, SweepRun
from .study import Study
from .sweep import Sweep
from .wildcards import Styles

__all__ = ["Axis", "Cell", "Plan", "RunCell", "Study", "Styles", "Sweep", "SweepRun"]
