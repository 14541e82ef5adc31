//! The conformance suites of `../shared/corpus`: html5lib-tests, the W3C XML suite, real pages to
//! detect. Each skips with a message if the corpus is not available.

#[path = "../common/mod.rs"]
mod common;

mod html5lib_encoding;
mod html5lib_tokenizer;
mod html5lib_tree;
mod sniff_corpus;
mod xml_suite;
