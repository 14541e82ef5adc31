//! Damaged or forged edit scripts: properties that must hold for any text.
//!
//! Shared by the integration tests and the fuzz target.

#![allow(dead_code)] // every test binary uses its own part of this

use quire_core::hash::hash128;
use quire_core::sdiff::script::{Script, Wanted, between};
use quire_core::{Digest, Options, decode, encode};

/// Pages whose scripts have all actions, all layers, and patches.
pub const SAMPLES: [(&[u8], &[u8]); 6] = [
    (
        b"<!doctype html>\n<P a=1>x<b a=1>y</p>z</b><ul> <li>1 <li>2 <li>3</ul><div><i>q</i><i>r</i></div>",
        b"\xef\xbb\xbf<p a=2>x<b a=1>y</b></p>z<ul> <li>3<li>1</ul><section><i>q</i><i>r</i></section></b>",
    ),
    (
        b"<?xml version='1.0'?><a b='1'><!-- c --><b/>&lt;<![CDATA[x]]></a>",
        b"<?xml version='1.0'?><a b='2'><c/><d>&#60;<b/></d></a>",
    ),
    (
        b"{\n  \"a\": [1, true, \"x\"],\n  \"b\":null, \"c\": {}\n}\n",
        b"{\"b\": null, \"a\": [2, true, {\"x\": \"y\"}]}",
    ),
    (b"one\ntwo\r\n\n three", b"two\none\n\n\nthree"),
    (b"<p>x", b"\xff\xfe<\0p\0>\0\x00\xd8x\0"),
    (b"", b"<p>x<p>y"),
];

/// Encode a page that may contain anything.
pub fn read(source: &[u8]) -> Digest {
    let options = Options {
        recover: true,
        ..Options::default()
    };
    encode(source, &options).expect("pages can be read")
}

/// Return the old page of a sample and the JSON of its script.
pub fn sample(number: usize) -> (Digest, String) {
    let (old, new) = SAMPLES[number % SAMPLES.len()];
    let (old, new) = (read(old), read(new));
    let script = between(&old, &new, Wanted::default()).expect("scripts are made");
    (old, script.to_json().expect("scripts can be written"))
}

/// Check that a text is refused, or is a script that makes the page it describes, or is refused by
/// the page.
pub fn try_everything(old: &Digest, text: &str) {
    let Ok(script) = Script::from_json(text) else {
        return;
    };
    let written = script
        .to_json()
        .expect("a script that was read can be written");
    assert_eq!(Script::from_json(&written).as_ref(), Ok(&script));
    if let Ok(made) = script.apply(old) {
        let source = decode(&made).expect("an encoded page can be decoded");
        assert_eq!(hash128(&source), script.new.signature);
    }
    let _ = script.pairs(old);
    if let Ok(back) = script.invert() {
        assert_eq!(back.invert().as_ref(), Ok(&script));
        let _ = back.apply(old);
    }
    let _ = script.compose(&script, old, old, old);
}
