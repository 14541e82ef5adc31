"""Archives and the end of the world: power cuts, kills, failing disks, damage."""
