"""ESI: a plan written as templates, fragments and VCL, composed again and verified."""

from quire import _moved

__getattr__ = _moved.old_names(__name__)
