//! The version token on Windows.

use std::fs::Metadata;
use std::os::windows::fs::MetadataExt;

/// 1970-01-01 in the unit of file times, 100 ns since 1601.
const UNIX_EPOCH: i128 = 116_444_736_000_000_000;

/// The standard library does not tell volume, file index and change time here: the first two
/// stay zero, and the creation time, which is new for a file that took another's place, stands in
/// for the change time.
pub(super) fn version_of(meta: &Metadata) -> String {
    let written = nanoseconds(meta.last_write_time());
    let created = nanoseconds(meta.creation_time());
    format!("0:0:{}:{written}:{created}", meta.file_size())
}

fn nanoseconds(file_time: u64) -> i128 {
    (i128::from(file_time) - UNIX_EPOCH) * 100
}
