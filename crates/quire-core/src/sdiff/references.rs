//! What a node points to, as compared: the addresses of links and of images.
//!
//! Asked only of nodes that changed, so it costs nothing where nothing did.

use super::annotation::Status;
use super::labels::{key, mix};
use super::rules::Rules;
use crate::base::hash::hash64_seeded;
use crate::digest::Digest;
use crate::page::vocabulary::Class;
use crate::text::referring;

/// The links and the images of one node, each as a hash; 0 for none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct References {
    links: u64,
    images: u64,
}

impl References {
    /// What an element points to, of the attributes that the rules compare.
    pub fn of(page: &Digest, node: usize, rules: &Rules) -> Self {
        if page.class(node) != Class::Element || page.attr().get(node) < 0 {
            return Self::default();
        }
        let (links, images) = referring(page.tag_name(page.tag().get(node) as usize));
        let hash = |names: &[&str]| {
            if names.is_empty() {
                return 0;
            }
            (page.attributes(node).iter())
                .filter(|(name, _)| names.contains(&&**name) && rules.compares(name))
                .map(|(name, value)| {
                    let name = hash64_seeded(name.as_bytes(), key());
                    let value = if rules.ignore_case {
                        hash64_seeded(value.to_lowercase().as_bytes(), key())
                    } else {
                        hash64_seeded(value.as_bytes(), key())
                    };
                    mix(name.wrapping_add(value.rotate_left(23))) | 1
                })
                .fold(0, u64::wrapping_add)
        };
        Self {
            links: hash(links),
            images: hash(images),
        }
    }

    /// The status of a node that had other references.
    pub fn differ(self, other: Self) -> u16 {
        let mut status = 0;
        if self.links != other.links {
            status |= Status::LINKS;
        }
        if self.images != other.images {
            status |= Status::IMAGES;
        }
        status
    }
}
