//! Huge pages on Linux, where the administrator leaves the choice to the program or allows them.

use rustix::mm::{Advice, madvise};
use rustix::param::page_size;

/// Asks for huge pages where `memory` lies. A system that has none leaves everything as it is.
pub(super) fn ask_for_huge_pages<T>(memory: &mut [T]) {
    let start = memory.as_mut_ptr().cast::<u8>();
    let to_page = start.align_offset(page_size());
    let length = size_of_val(memory).saturating_sub(to_page) / page_size() * page_size();
    // SAFETY: the range lies within `memory`; the advice changes no content and no access right.
    let _ = unsafe { madvise(start.add(to_page).cast(), length, Advice::LinuxHugepage) };
}
