"""The experiments of the Page Digest paper, one file each: its rows beside ours."""
