//! The `read` tool: one file, one window of numbered lines. Contract: tools §4, D14, D19.

use super::check_path;
use super::window::{Window, WindowBuilder, WindowLimits};
use crate::contract::{
    Code, Failure, FileType, FsError, Hooks, Observation, Opened, Outcome, Provider, Target,
    TextSource,
};

/// A file that changes while it is read is read again at most this often; after that the older
/// version is reported, with which a guarded mutation is refused.
const ATTEMPTS: u32 = 3;

/// The limits that the plugin's configuration sets.
#[derive(Clone, Copy, Debug)]
pub struct ReadLimits {
    /// Default and greatest number of lines.
    pub lines: f64,
    /// UTF-16 units kept of a line.
    pub line_units: usize,
    /// Bytes of the selected lines.
    pub bytes: usize,
    /// Size in bytes from which a file is streamed.
    pub stream_min_size: u64,
}

/// The arguments of one call, as the model sent them.
#[derive(Clone, Debug)]
pub struct ReadArguments {
    /// Path as given.
    pub path: String,
    /// Base of relative paths; `None` leaves it to the provider.
    pub cwd: Option<String>,
    /// First line, counted from 1.
    pub offset: Option<f64>,
    /// Greatest number of lines.
    pub limit: Option<f64>,
}

/// What a call shows.
#[derive(Debug)]
pub struct ReadResult {
    /// Absolute path as spelled.
    pub path: String,
    /// First line asked for.
    pub offset: f64,
    /// The lines.
    pub window: Window,
}

/// Reads a window of lines of a text file and reports what was observed.
pub async fn read<P: Provider, H: Hooks>(
    provider: &P,
    hooks: &H,
    arguments: &ReadArguments,
    limits: &ReadLimits,
) -> Outcome<ReadResult> {
    check_path(&arguments.path)?;
    let offset = positive_integer("offset", arguments.offset)?.unwrap_or(1.0);
    let limit = positive_integer("limit", arguments.limit)?.unwrap_or(limits.lines);
    if limit > limits.lines {
        let most = limits.lines;
        return Err(Failure::Argument(format!(
            "limit must be less than or equal to {most}"
        )));
    }
    let bounds = WindowLimits {
        offset: offset as u64,
        limit: limit as u64,
        max_line_units: limits.line_units,
        max_bytes: limits.bytes,
    };

    let target = provider
        .resolve(&arguments.path, arguments.cwd.as_deref())
        .await?;
    for attempt in 1.. {
        let opened = provider.open(&target, limits.stream_min_size).await?;
        let mut opened = present_file(hooks, &target, opened)?;
        let window = read_window(&mut opened.text, bounds).await?;
        if attempt < ATTEMPTS && !opened.text.is_settled().await? {
            continue;
        }
        if window.offset_out_of_range(bounds.offset) {
            return Err(out_of_range(&target, offset, window.total_lines).into());
        }
        hooks.observed(&target, Observation::Present(opened.info.version));
        return Ok(ReadResult {
            path: target.display,
            offset,
            window,
        });
    }
    Err(Failure::Internal("the read loop ended".into()))
}

async fn read_window<S: TextSource>(text: &mut S, bounds: WindowLimits) -> Outcome<Window> {
    let mut window = WindowBuilder::new(bounds);
    while let Some(chunk) = text.next().await? {
        window.push(chunk);
    }
    Ok(window.finish())
}

fn present_file<S, H: Hooks>(
    hooks: &H,
    target: &Target,
    opened: Option<Opened<S>>,
) -> Outcome<Opened<S>> {
    let path = &target.display;
    let Some(opened) = opened else {
        hooks.observed(target, Observation::Absent);
        let message = format!("cannot read \"{path}\": not found");
        return Err(FsError::new(Code::NotFound, message).into());
    };
    if opened.info.kind != FileType::File {
        let message = format!("cannot read \"{path}\": not a regular file");
        return Err(FsError::new(Code::NotRegularFile, message).into());
    }
    Ok(opened)
}

fn out_of_range(target: &Target, offset: f64, lines: u64) -> FsError {
    let path = &target.display;
    let message = format!("offset {offset} is out of range for \"{path}\" ({lines} lines)");
    FsError::new(Code::NotFound, message)
}

fn positive_integer(name: &str, value: Option<f64>) -> Outcome<Option<f64>> {
    match value {
        Some(number) if number.fract() != 0.0 || number < 1.0 || !number.is_finite() => Err(
            Failure::Argument(format!("{name} must be a positive integer")),
        ),
        valid => Ok(valid),
    }
}
