"""ESI: a plan written as templates, fragments and VCL, composed again and verified."""
