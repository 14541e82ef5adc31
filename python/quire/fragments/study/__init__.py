"""Study: a plan in; figures and advice for every fragment of the site out."""
