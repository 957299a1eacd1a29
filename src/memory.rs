//! Memory for contents of files.
//!
//! Fresh memory comes in pages of 4 KiB, each with a fault when it is first touched: for a content
//! of megabytes that takes longer than to read it. So the system is asked for huge pages there.

use std::mem::MaybeUninit;

#[cfg(target_os = "linux")]
#[path = "memory/linux.rs"]
mod platform;
#[cfg(not(target_os = "linux"))]
#[path = "memory/other.rs"]
mod platform;

/// Bytes from which huge pages are asked for: two of them, so that little of the last is wasted.
const LARGE: usize = 4 << 20;

/// `length` elements of value zero.
pub fn zeroed<T: Copy + Default>(length: usize) -> Vec<T> {
    let mut memory = vec![T::default(); length];
    // Zeroed memory of this size comes untouched from the system.
    prepare(memory.as_mut_slice());
    memory
}

/// An empty vector with room for `length` elements.
pub fn with_capacity<T>(length: usize) -> Vec<T> {
    let mut memory = Vec::with_capacity(length);
    prepare::<MaybeUninit<T>>(memory.spare_capacity_mut());
    memory
}

fn prepare<T>(memory: &mut [T]) {
    if size_of_val(memory) >= LARGE {
        platform::ask_for_huge_pages(memory);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_and_small_memory_is_as_asked_for() {
        for length in [0, 1, LARGE - 1, LARGE, LARGE + 1, 3 * LARGE + 12_345] {
            let mut bytes = zeroed::<u8>(length);
            assert!(bytes.len() == length && bytes.iter().all(|&byte| byte == 0));
            bytes.fill(7);
            assert!(bytes.iter().all(|&byte| byte == 7));

            let mut units = with_capacity::<u16>(length);
            assert!(units.is_empty() && units.capacity() >= length);
            units.resize(length, 9);
            assert!(units.iter().all(|&unit| unit == 9));
        }
    }
}
