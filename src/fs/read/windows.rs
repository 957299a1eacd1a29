//! Reading on Windows.

use std::fs::File;
use std::io::{self, Read};

/// Reads at most `most` bytes to the end of `bytes`; the number of bytes read, 0 at the end.
pub(super) fn append(mut file: &File, bytes: &mut Vec<u8>, most: usize) -> io::Result<usize> {
    let filled = bytes.len();
    bytes.resize(filled + most, 0);
    let read = file.read(&mut bytes[filled..]);
    bytes.truncate(filled + *read.as_ref().unwrap_or(&0));
    read
}
