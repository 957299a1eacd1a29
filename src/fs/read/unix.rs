//! Reading on Unix systems.

use std::fs::File;
use std::io;

/// Reads at most `most` bytes into the free room behind `bytes`, which must have it; the number of
/// bytes read, 0 at the end. The room need not be filled with zeros first.
pub(super) fn append(file: &File, bytes: &mut Vec<u8>, most: usize) -> io::Result<usize> {
    let room = &mut bytes.spare_capacity_mut()[..most];
    let (read, _) = rustix::io::read(file, room)?;
    let read = read.len();
    // SAFETY: the system has filled this much of the room.
    unsafe { bytes.set_len(bytes.len() + read) };
    Ok(read)
}
