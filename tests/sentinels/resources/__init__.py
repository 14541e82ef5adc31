"""Style sheets, images and fonts of pages."""
