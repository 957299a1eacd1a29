//! The text of an opened file in chunks, in constant memory.
//!
//! Contract: provider §6 (`streamText`).

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::ops::Range;

use tokio_util::sync::CancellationToken;

use crate::contract::{FsError, Info, Outcome, TextSource};
use crate::fs::metadata::{check, info_of};
use crate::fs::{errno, read};
use crate::text;

/// Enough for the cut character of the chunk before and some progress.
const MIN_BUFFER: usize = 64;

/// A regular file that is read from its start to its end.
///
/// The descriptor closes with the value. Each chunk is validated before it is handed out; one
/// leading byte-order mark is dropped.
pub struct FileText {
    file: File,
    opened: Info,
    display: String,
    cancel: CancellationToken,
    buffer: Vec<u8>,
    /// Where in `buffer` the cut character stands that the next chunk starts with.
    carried: Range<usize>,
    /// Bytes read so far.
    position: u64,
    finished: bool,
}

impl FileText {
    /// A text over a regular file at position 0. `meta` is that of the descriptor, `display` the
    /// path for messages, `chunk` the most bytes to read at once.
    pub fn new(
        file: File,
        meta: Metadata,
        display: String,
        chunk: usize,
        cancel: CancellationToken,
    ) -> Self {
        FileText {
            file,
            opened: info_of(&meta),
            display,
            cancel,
            buffer: vec![0; buffer_size(meta.len(), chunk)],
            carried: 0..0,
            position: 0,
            finished: false,
        }
    }

    /// Reads and checks the next chunk; its place in `buffer`, or `None` at the end.
    fn advance(&mut self) -> Result<Option<Range<usize>>, FsError> {
        check(&self.cancel, "read")?;
        let is_first = self.position == 0;
        let kept = self.carried.len();
        self.buffer.copy_within(self.carried.clone(), 0);
        let filled = self.fill(kept)?;
        let at_end = filled < self.buffer.len();

        let sampled = usize::try_from(self.position).unwrap_or(usize::MAX);
        let unsampled = read::BINARY_SAMPLE
            .saturating_sub(sampled)
            .min(filled - kept);
        if read::is_binary(&self.buffer[kept..kept + unsampled]) {
            return Err(read::binary(&self.display));
        }
        self.position += (filled - kept) as u64;

        let bytes = &self.buffer[..filled];
        let end = if at_end {
            filled
        } else {
            text::whole_characters(bytes)
        };
        if simdutf8::basic::from_utf8(&bytes[..end]).is_err() {
            return Err(read::invalid_text(&self.display));
        }
        let start = if is_first {
            end - text::without_bom(&bytes[..end]).len()
        } else {
            0
        };
        self.carried = end..filled;
        self.finished = at_end;
        Ok(if start == end && at_end {
            None
        } else {
            Some(start..end)
        })
    }

    /// Fills the buffer behind its first `kept` bytes; how much of it is filled. Less than all
    /// means that the file has ended.
    fn fill(&mut self, kept: usize) -> Result<usize, FsError> {
        let mut filled = kept;
        while filled < self.buffer.len() {
            match self.file.read(&mut self.buffer[filled..]) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(errno::failure("read", &self.display, &error, "read")),
            }
        }
        Ok(filled)
    }
}

impl TextSource for FileText {
    /// Errors: `Aborted` (`read aborted`), `NotText`, else the system's; nothing comes after one.
    async fn next(&mut self) -> Outcome<Option<&[u8]>> {
        if self.finished {
            return Ok(None);
        }
        if self.position > 0 {
            // A long read lets the others on its thread have their turn.
            tokio::task::yield_now().await;
        }
        match self.advance() {
            Ok(place) => Ok(place.map(|place| &self.buffer[place])),
            Err(failure) => {
                self.finished = true;
                Err(failure.into())
            }
        }
    }

    /// Whether the file still has the version that it had when it was opened or rewound.
    async fn is_settled(&mut self) -> Outcome<bool> {
        match self.file.metadata() {
            Ok(meta) => Ok(info_of(&meta).version == self.opened.version),
            Err(error) => Err(errno::failure("read", &self.display, &error, "fstat").into()),
        }
    }
}

/// A small file fits in one chunk, with a byte more so that its end shows.
fn buffer_size(size: u64, chunk: usize) -> usize {
    let wanted = match usize::try_from(size) {
        Ok(0) => read::UNKNOWN_SIZE,
        Ok(size) => size.saturating_add(1),
        Err(_) => chunk,
    };
    wanted.min(chunk).max(MIN_BUFFER)
}

#[cfg(test)]
mod tests;
