use super::*;
use crate::codec::samples::{noise, prose, random};

/// Return a page of one template: rows of names and numbers between the same markup.
fn page(seed: u64) -> Vec<u8> {
    let mut next = random(seed + 7);
    let mut page = b"<!doctype html><html><head><title>Shop</title></head><body>".to_vec();
    for row in 0..20 {
        let (name, price) = (next() >> 50, (next() >> 40) % 1000);
        let line = format!(
            "<tr class=\"row\"><td>item {row}</td><td><a href=\"/item/{name:x}\">thing {name:x}</a></td><td>{price}</td></tr>\n"
        );
        page.extend_from_slice(line.as_bytes());
    }
    page
}

fn samples() -> Vec<Vec<u8>> {
    vec![
        Vec::new(),
        b"x".to_vec(),
        b"ab".repeat(5_000),
        vec![255; 700],
        noise(1, 700),
        [prose(2, 700), noise(3, 600), prose(4, 100)].concat(),
        page(1),
        (0..=255).cycle().take(1_000).collect(),
    ]
}

#[test]
fn every_page_comes_back_against_every_base() {
    for base in samples() {
        let (written, frame) = DenseBase::create(&base);
        let read = DenseBase::open(&frame, base.len()).unwrap();
        assert_eq!(read.base(), base);
        for page in samples() {
            let frame = written.encode(&page);
            assert_eq!(read.decode(&frame, page.len()).unwrap(), page);
            assert!(
                frame.len() <= page.len() + page.len() / 50 + 9,
                "{} of {}",
                frame.len(),
                page.len()
            );
            if page == base && page.len() > 64 {
                assert!(
                    frame.len() < 24,
                    "{} bytes for the base itself",
                    frame.len()
                );
            }
        }
    }
}

#[test]
fn pages_do_not_change_the_model() {
    let base = DenseBase::new(&page(3));
    let first = base.encode(&page(4));
    for other in samples() {
        let frame = base.encode(&other);
        assert!(base.decode(&frame, other.len() + 1).is_err());
        assert_eq!(base.decode(&frame, other.len()).unwrap(), other);
        assert_eq!(base.encode(&page(4)), first);
    }
    assert_eq!(base.clone().encode(&page(4)), first);
    assert_eq!(base.clone().decode(&first, page(4).len()).unwrap(), page(4));
}

#[test]
fn a_page_of_a_template_takes_little_beside_what_is_new() {
    let base = [page(5), page(6)].concat();
    let frame = DenseBase::new(&base).encode(&page(7));
    // 20 rows of 14 and 10 random bits are 60 bytes; nothing can be smaller.
    assert!(frame.len() < 200, "{}", frame.len());
}

#[test]
fn noise_is_stored_as_it_is() {
    let page = [prose(6, 500), noise(7, 30_000)].concat();
    let frame = DenseBase::new(&prose(8, 1000)).encode(&page);
    assert!(frame.len() < 30_000 + 400, "{}", frame.len());
}

#[test]
fn frames_are_the_same_on_every_machine() {
    let base: Vec<u8> = (10..14).flat_map(page).collect();
    let (dense, stored) = DenseBase::create(&base);
    let mut all = stored;
    for sample in samples() {
        all.extend(dense.encode(&sample));
    }
    // A change here is a change of the format: older archives could not be read.
    assert_eq!(
        (all.len(), crate::base::hash::hash64(&all)),
        (3_036, 5_788_819_096_894_427_359)
    );
}

#[test]
fn another_length_than_expected_is_refused() {
    let base = DenseBase::new(&page(8));
    let page = page(9);
    let frame = base.encode(&page);
    for wrong in [
        0,
        1,
        page.len() / 2,
        page.len() + 100,
        1 << 20,
        1 << 31,
        usize::MAX,
    ] {
        match base.decode(&frame, wrong) {
            Err(Error::Codec { .. }) => {}
            other => panic!("{wrong}: {other:?}"),
        }
    }
    let empty = base.encode(&[]);
    assert_eq!(base.decode(&empty, 0).unwrap(), b"");
    assert!(base.decode(&empty, 1).is_err());
    assert!(base.decode(&[1; 9], 0).is_err());
    assert!(base.decode(&[], 1 << 20).is_err());
}

#[test]
fn cut_flipped_and_forged_frames_give_an_error_or_the_right_length() {
    for base in [Vec::new(), page(10)] {
        let base = DenseBase::new(&base);
        let page = [page(11), noise(12, 512), prose(13, 100)].concat();
        let frame = base.encode(&page);
        let check = |frame: &[u8]| match base.decode(frame, page.len()) {
            Ok(read) => assert_eq!(read.len(), page.len()),
            Err(error) => assert!(matches!(error, Error::Codec { .. })),
        };
        for cut in (0..frame.len()).step_by(41) {
            check(&frame[..cut]);
            assert!(
                base.decode(&frame[..cut.min(frame.len() / 2)], page.len())
                    .is_err()
            );
        }
        for at in (0..frame.len()).step_by(13) {
            let mut damaged = frame.clone();
            damaged[at] ^= 1 << (at % 8);
            check(&damaged);
            damaged.truncate(at);
            damaged.extend([0xff; 40]);
            check(&damaged);
        }
        for seed in 0..60 {
            check(&noise(1000 + seed, seed as usize % 100));
        }
        assert_eq!(base.decode(&frame, page.len()).unwrap(), page);
    }
}

#[test]
fn a_long_promise_and_a_short_frame_end_soon() {
    let base = DenseBase::new(&page(14));
    for frame in [
        vec![0xff; 4],
        vec![0; 4],
        noise(15, 30),
        base.encode(&vec![0; 100_000]),
    ] {
        assert!(base.decode(&frame, 1 << 25).is_err());
    }
}

#[test]
fn threads_share_a_base() {
    let base = DenseBase::new(&page(16));
    std::thread::scope(|scope| {
        for thread in 0..2 {
            let base = &base;
            scope.spawn(move || {
                for seed in 0..2 {
                    let page = page(100 + thread * 10 + seed);
                    assert_eq!(base.decode(&base.encode(&page), page.len()).unwrap(), page);
                }
            });
        }
    });
}

#[test]
fn a_base_is_learned_on_top_of_another() {
    let (below, first) = DenseBase::create(&page(20));
    let (above, second) = below.learn_more(&prose(21, 300));
    let page = [prose(21, 300), page(20), noise(22, 40)].concat();
    let frame = above.encode(&page);
    assert!(frame.len() < below.encode(&page).len());
    let opened = DenseBase::open(&first, below.base().len()).unwrap();
    let more_len = above.base().len() - below.base().len();
    let opened_above = opened.open_more(&second, more_len).unwrap();
    assert_eq!(opened_above.base(), above.base());
    assert_eq!(opened_above.decode(&frame, page.len()).unwrap(), page);
    assert!(
        opened.decode(&frame, page.len()).is_err(),
        "of the base above"
    );
    assert_eq!(
        opened.encode(&page),
        below.encode(&page),
        "as it was before"
    );
    assert!(opened.open_more(&second, more_len - 1).is_err());
    assert!(
        opened
            .open_more(&second[..second.len() / 2], more_len)
            .is_err()
    );
    assert!(
        opened_above.open_more(&second, more_len).is_err(),
        "of another base"
    );
}
