"""Study: figures and advice for every fragment of a site."""
