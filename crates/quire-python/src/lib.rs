//! quire's kernels as one Python module.
//!
//! This crate makes no decisions. Every function checks its arguments, lets other threads run while
//! a kernel works ([`guard::run`]), and converts the result. Errors become the classes of
//! `quire.errors`. A panic becomes `InternalError`, never an exception that `except Exception`
//! would miss.

mod buffers;
mod codec;
mod digest;
mod errors;
mod extraction;
mod fragments;
mod functions;
mod guard;
mod pattern;
mod script;
mod sdiff;
mod similarity;
mod style;
mod templates;

/// The kernels of quire. Typed in `_native.pyi`; imported through `quire._core`.
#[pyo3::pymodule]
mod _native {
    #[pymodule_export]
    use crate::buffers::{Floats, Navigation};
    #[pymodule_export]
    use crate::codec::clusters::{Neighbours, page_clusters, page_sketch};
    #[pymodule_export]
    use crate::codec::{Base, DenseBase, TbcReference, choose_base, tbc_apply, tbc_delta};
    #[pymodule_export]
    use crate::digest::{Digest, hidden_elements};
    #[pymodule_export]
    use crate::extraction::Outline;
    #[pymodule_export]
    use crate::fragments::{
        AfTree, FragmentPool, PartPacker, pair_alike, source_spans, window_hashes,
    };
    #[pymodule_export]
    use crate::functions::{
        _panic_for_test, Encoder, compress, encode, from_bytes, from_columns, from_file, peek,
    };
    #[pymodule_export]
    use crate::pattern::Pattern;
    #[pymodule_export]
    use crate::script::{Script, edit_script, script_from_json, script_of_pairs};
    #[pymodule_export]
    use crate::sdiff::{annotate, long_runs, text_rows, word_changes};
    #[pymodule_export]
    use crate::similarity::{
        Bag, Sketch, all_resemblances, kang, likeness, resemblances, similarity, sketch,
        sketch_from_bytes, token_bins,
    };
    #[pymodule_export]
    use crate::style::{sanitize_declarations, sanitize_sheet};
    #[pymodule_export]
    use crate::templates::{
        Bags, hash64, hash128, hubs, merge_groups, most_met, random_sampling, sample_groups, stars,
    };
}
