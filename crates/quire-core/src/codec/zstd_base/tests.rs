use super::*;
use crate::codec::samples::{noise, prose};

fn samples() -> Vec<Vec<u8>> {
    vec![
        Vec::new(),
        b"x".to_vec(),
        b"ab".repeat(40_000),
        vec![0; 300_000],
        noise(1, 70_000),
        prose(2, 40_000),
        [DICTIONARY_MAGIC.to_vec(), prose(3, 5000)].concat(),
        DICTIONARY_MAGIC.to_vec(),
        noise(4, 7),
    ]
}

#[test]
fn every_page_comes_back_against_every_base() {
    for base in samples() {
        let prepared = Base::new(&base);
        for page in samples() {
            for search in [Search::Usual, Search::Long] {
                let frame = prepared.encode_with(&page, 3, search).unwrap();
                assert!(frame.len() <= page.len() + page.len() / 200 + 16);
                assert_eq!(prepared.decode(&frame, page.len()).unwrap(), page);
                if page == base && page.len() > 64 {
                    assert!(
                        frame.len() < 64,
                        "{} bytes for the base itself",
                        frame.len()
                    );
                }
            }
        }
    }
}

#[test]
fn levels_and_searches_may_change_from_page_to_page() {
    let page = prose(5, 20_000);
    let base = Base::new(&prose(6, 60_000));
    for level in [9, 1, 19, 9, -5, 99] {
        for search in [Search::Usual, Search::Long] {
            let frame = base.encode_with(&page, level, search).unwrap();
            assert_eq!(base.decode(&frame, page.len()).unwrap(), page);
        }
    }
    for search in [Search::Usual, Search::Long] {
        assert_eq!(
            base.encode_with(&page, 9, search).unwrap(),
            base.encode_with(&page, 9, search).unwrap()
        );
    }
}

#[test]
fn the_whole_base_is_reached_from_the_end_of_a_page() {
    // The common part is at the far end of the base, and at the end of the page.
    let common = noise(7, 4000);
    let base = Base::new(&[&common[..], &noise(8, 1 << 20)].concat());
    let page = [noise(9, 300_000), common].concat();
    let frame = base.encode(&page, 9).unwrap();
    assert!(frame.len() < 300_300, "{}", frame.len());
    assert_eq!(base.decode(&frame, page.len()).unwrap(), page);
}

#[test]
fn another_length_than_expected_is_refused() {
    let base = Base::new(&prose(10, 9000));
    let page = prose(11, 9000);
    let frame = base.encode(&page, 9).unwrap();
    for wrong in [0, 1, 8999, 9001, 1 << 20, usize::MAX] {
        let told = base.decode(&frame, wrong).unwrap_err();
        assert!(matches!(told, Error::Codec { .. }), "{told:?}");
    }
    assert!(Base::none().decode(&[], 0).is_ok());
    assert!(Base::none().decode(&[], 1).is_err());
}

#[test]
fn cut_and_flipped_frames_give_an_error_or_a_page_of_the_right_length() {
    let base = Base::new(&prose(12, 30_000));
    let page = prose(13, 3000);
    let frame = base.encode(&page, 9).unwrap();
    for cut in 0..frame.len() {
        assert!(
            base.decode(&frame[..cut], page.len()).is_err(),
            "cut at {cut}"
        );
    }
    for at in 0..frame.len() {
        for bit in 0..8 {
            let mut damaged = frame.clone();
            damaged[at] ^= 1 << bit;
            if let Ok(page) = base.decode(&damaged, page.len()) {
                assert_eq!(page.len(), 3000);
            }
        }
    }
    for seed in 0..2000 {
        let junk = noise(100 + seed, seed as usize % 200);
        assert!(base.decode(&junk, 5000).map_or(5000, |page| page.len()) == 5000);
    }
}

#[test]
fn threads_share_a_base() {
    let base = Base::new(&prose(14, 50_000));
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let base = &base;
            scope.spawn(move || {
                for seed in 0..20 {
                    let page = prose(thread * 100 + seed, 5000);
                    let frame = base.encode(&page, 5).unwrap();
                    assert_eq!(base.decode(&frame, page.len()).unwrap(), page);
                }
            });
        }
    });
}
