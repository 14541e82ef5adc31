//! Writes JSON: spacing and punctuation follow the layout of the page.

use super::{Hand, Open, Place, Sink};
use crate::digest::Digest;
use crate::page::vocabulary::Class;
use crate::parse::json;
use crate::parse::json::{Layout, Predictor};

/// The writer for JSON.
pub(super) struct Json<'a> {
    digest: &'a Digest,
    predictor: Predictor,
    gap: Vec<u8>,
}

impl<'a> Json<'a> {
    pub(super) fn new(digest: &'a Digest) -> Self {
        let layout = Layout::from_bytes(&digest.meta().layout).unwrap_or_default();
        Self {
            digest,
            predictor: Predictor::new(layout),
            gap: Vec::new(),
        }
    }
}

impl Hand for Json<'_> {
    fn open(&mut self, place: &Place, sink: &mut impl Sink) -> Option<bool> {
        if place.class == Class::Document {
            return Some(true);
        }
        let digest = self.digest;
        let children = place.children as usize;
        let following = (place.node + 1..digest.n()).map(|i| digest.class(i));
        let scalars = place.class == Class::Array && json::all_scalars(following, children);
        let gap = self.predictor.open(place.class, scalars);
        if place.implied {
            return Some(true);
        }
        self.gap.clear();
        gap.write(&mut self.gap);
        sink.opens_behind(place.node, self.gap.len());
        let content = digest.content().get(place.node);
        let bytes = if content >= 0 {
            digest.content_raw(content as usize)
        } else {
            digest.tag_name(place.tag).as_bytes()
        };
        json::write_token(place.class, bytes, &mut self.gap);
        Some(sink.put(&self.gap))
    }

    fn close(&mut self, open: &Open, sink: &mut impl Sink) -> bool {
        let class = self.digest.class(open.node as usize);
        if class.is_leaf() || open.node == 0 {
            return true;
        }
        let gap = self.predictor.close();
        if !open.ends() {
            return true;
        }
        self.gap.clear();
        gap.write(&mut self.gap);
        self.gap.extend_from_slice(json::closing(class));
        sink.put(&self.gap)
    }
}
