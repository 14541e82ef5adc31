    """How many parts each page has."""
    totals: NDArray[np.uint64] = np.frombuffer(bags.totals(), "<u8")
    return totals.clip(max=0xFFFF_FFFF).astype(np.uint32)


