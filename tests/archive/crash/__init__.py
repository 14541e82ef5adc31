"""Archives under power cuts, kills, failing disks and damage."""
