"""ESI: a plan in; templates, fragments, VCL and a manifest out, composed again and verified."""

from quire import _moved

__getattr__ = _moved.old_names(__name__)
