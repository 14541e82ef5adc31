"""ESI: a plan in; templates, fragments, VCL and a manifest out, composed again and verified."""
