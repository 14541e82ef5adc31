//! Properties of TBC deltas that hold for any input.

use quire_core::codec::tbc::{Reference, apply, delta};

/// Check that a page is restored from its delta; that the reference may be prepared beforehand; and
/// that nothing is longer than storing both.
pub fn comes_back(reference: &[u8], page: &[u8], window: usize) {
    let (made, steps) = delta(reference, page, window);
    assert_eq!(apply(reference, &made, page.len()).unwrap(), page);
    assert!(steps.kept.0 <= steps.tokens.0 && steps.kept.1 <= steps.tokens.1);
    assert!(steps.edits <= steps.kept.0 + steps.kept.1);
    // Three numbers of at most five bytes for each run of tokens, and each run has a token of the
    // page.
    assert!(made.len() <= page.len() + 15 * steps.tokens.1);
    let again = Reference::new(reference, window).delta(page);
    assert_eq!((again.0, again.1), (made, steps));
}

/// Check that any bytes are refused, or give a page of the requested length.
pub fn refused_or_of_length(reference: &[u8], delta: &[u8], length: usize) {
    if let Ok(page) = apply(reference, delta, length) {
        assert_eq!(page.len(), length);
        assert!(length <= reference.len() + delta.len());
    }
}
