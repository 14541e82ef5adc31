"""Records: accuracy on labelled pages, the heuristics of Omini, speed."""
