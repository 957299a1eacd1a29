//! The local provider: files of this machine, as `ctx.fs` promises them. Contract: provider.
//!
//! The functions below this module block; they run on the worker threads of `crate::node`, one
//! job a call, and look at the call's cancellation between steps and chunks. What awaits (the
//! mutation lock, the turns of a long read) is here and in `stream`.

mod basis;
mod confine;
mod directory;
mod edit;
mod errno;
mod identity;
mod lexical;
mod list;
mod lock;
mod metadata;
mod open;
mod place;
mod publish;
mod read;
mod stream;
mod write;

use std::sync::Arc;

pub use identity::session_base;
pub use list::Children;
pub use lock::{Guard, Locks, Ticket};
pub use stream::FileText;
use tokio_util::sync::CancellationToken;

use self::confine::Admitted;
use self::place::Place;
use crate::contract::{
    Confinement, EditOutcome, EditRequest, FsError, Info, Opened, Outcome, Provider, SandboxMode,
    Target, WriteIntent, WriteOutcome,
};
use crate::text::Text;

/// Bytes that one turn of a window scan reads; large enough to run at memory speed, small enough
/// to share the threads.
const SCAN_CHUNK: usize = 1 << 20;

/// One local provider: its base directory, its limits and its mutation locks.
pub struct LocalFs {
    /// Base of relative paths.
    pub base: String,
    /// Exclusive byte limit of both sides of an overwrite's diff.
    pub diff_basis_max_bytes: u64,
    /// Queues of the mutations, one a target.
    pub locks: Arc<Locks>,
}

/// A local provider as one call sees it: with the call's cancellation.
#[derive(Clone)]
pub struct LocalCall {
    /// The provider.
    pub fs: Arc<LocalFs>,
    /// Cancels this call.
    pub cancel: CancellationToken,
}

impl LocalCall {
    /// Maps a path to a target. Contract: provider §3.
    pub fn resolve_now(&self, path: &str, cwd: Option<&str>) -> Result<Target, FsError> {
        identity::resolve(&self.fs.base, path, cwd, &self.cancel)
    }

    /// Metadata of a target, `None` if it is absent. Contract: provider §5.
    pub fn stat(&self, target: &Target) -> Result<Option<Info>, FsError> {
        metadata::stat(target, &self.cancel)
    }

    /// Metadata of a path without following its last link. Contract: provider §5.
    pub fn lstat(&self, path: &str, cwd: Option<&str>) -> Result<Option<Info>, FsError> {
        metadata::lstat(&self.fs.base, path, cwd, &self.cancel)
    }

    /// The whole text of a file. Contract: provider §6.
    pub fn read_text(&self, target: &Target) -> Result<Text, FsError> {
        read::read_text(target, &self.cancel)
    }

    /// The bytes of a file of at most `max` bytes. Contract: provider §6.
    pub fn read_bytes(&self, target: &Target, max: u64) -> Result<Vec<u8>, FsError> {
        read::read_bytes(target, max, &self.cancel)
    }

    /// The children of a directory, unsorted, each with its own result. Contract: provider §7.
    pub fn list_dir(&self, target: &Target) -> Result<Children, FsError> {
        list::list_dir(target, &self.cancel)
    }

    /// Opens a target's text for reading in chunks of `chunk` bytes; `None` if it is absent.
    pub fn open_text(
        &self,
        target: &Target,
        chunk: usize,
    ) -> Result<Option<Opened<FileText>>, FsError> {
        let opened = open::open_target(target, "read")?;
        Ok(opened.map(|(file, meta)| {
            let info = metadata::info_of(&meta);
            let (display, cancel) = (target.display.clone(), self.cancel.clone());
            Opened {
                info,
                text: FileText::new(file, meta, display, chunk, cancel),
            }
        }))
    }

    /// Lets a mutation of `target` through the fence, waits for its turn and opens its place.
    /// `ticket` is a place in the queue of `target`; `verb` is that of the call.
    ///
    /// Where a link has come into the way of a confined target meanwhile, the fence judges the
    /// target anew.
    ///
    /// Contract: sandbox, provider §8, D10, D22.
    pub async fn enter(
        &self,
        target: &Target,
        ticket: Ticket,
        confinement: Option<Confinement>,
        verb: &'static str,
    ) -> Result<Mutation, FsError> {
        let mut admitted = confine::admit(confinement.as_ref(), target, verb)?;
        let ticket = self.ticket_for(&admitted, target, ticket);
        let mut turn = self.turn(ticket, verb).await?;
        for _ in 0..WAY_CHANGES {
            let opened = open_place(&admitted)
                .map_err(|error| errno::failure(verb, &target.display, &error, "open"))?;
            if let Some(place) = opened {
                let target = admitted.target;
                return Ok(Mutation {
                    target,
                    place,
                    _turn: turn,
                });
            }
            let again = confine::admit_anew(confinement.as_ref(), target, verb)?;
            if again.target.key != admitted.target.key {
                drop(turn);
                let ticket = self.fs.locks.enqueue(&again.target.key);
                turn = self.turn(ticket, verb).await?;
            }
            admitted = again;
        }
        Err(confine::denied(target, SandboxMode::WorkspaceWrite))
    }

    async fn turn(&self, ticket: Ticket, verb: &str) -> Result<Guard, FsError> {
        let turn = ticket.acquire(&self.cancel).await;
        turn.ok_or_else(|| FsError::aborted(verb))
    }

    /// The ticket of the target as it was admitted.
    fn ticket_for(&self, admitted: &Admitted, target: &Target, ticket: Ticket) -> Ticket {
        if admitted.target.key == target.key {
            return ticket;
        }
        drop(ticket);
        self.fs.locks.enqueue(&admitted.target.key)
    }

    /// Creates or replaces a file, in the target's turn. Contract: provider §9.
    pub fn write_now(
        &self,
        mutation: &mut Mutation,
        content: Text,
        intent: Option<&WriteIntent>,
    ) -> Result<WriteOutcome, FsError> {
        let limit = self.fs.diff_basis_max_bytes;
        let Mutation { target, place, .. } = mutation;
        write::write_text(target, place, content, intent, limit, &self.cancel)
    }

    /// Replaces literal text, in the target's turn. Contract: provider §10.
    pub fn edit_now(
        &self,
        mutation: &mut Mutation,
        request: &EditRequest,
        expected: Option<&str>,
    ) -> Result<EditOutcome, FsError> {
        let Mutation { target, place, .. } = mutation;
        edit::edit_text(target, place, request, expected, &self.cancel)
    }
}

/// How often the way to a confined target may change while it is opened, before that counts as an
/// attempt to lead it out.
const WAY_CHANGES: usize = 16;

/// A mutation that the fence let through, in its turn, with its place open.
pub struct Mutation {
    target: Target,
    place: Place,
    _turn: Guard,
}

/// Opens the place of an admitted target; `None` where its way is not the one that was judged.
fn open_place(admitted: &Admitted) -> std::io::Result<Option<Place>> {
    let Some(beneath) = &admitted.beneath else {
        return Place::of(&admitted.target).map(Some);
    };
    match Place::beneath(beneath) {
        Ok(place) if admitted.if_without_links && place.may_be_link() => Ok(None),
        Ok(place) => Ok(Some(place)),
        Err(error) if admitted.if_without_links || errno::is_other_way(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

impl Provider for LocalCall {
    type Source = FileText;

    async fn resolve(&self, path: &str, cwd: Option<&str>) -> Outcome<Target> {
        metadata::check(&self.cancel, "resolve")?;
        Ok(self.resolve_now(path, cwd)?)
    }

    async fn open(&self, target: &Target, _: u64) -> Outcome<Option<Opened<FileText>>> {
        metadata::check(&self.cancel, "read")?;
        Ok(self.open_text(target, SCAN_CHUNK)?)
    }

    async fn write_text(
        &self,
        target: &Target,
        content: Text,
        intent: Option<WriteIntent>,
        confinement: Option<Confinement>,
    ) -> Outcome<WriteOutcome> {
        let ticket = self.fs.locks.enqueue(&target.key);
        let mut mutation = self.enter(target, ticket, confinement, "write").await?;
        Ok(self.write_now(&mut mutation, content, intent.as_ref())?)
    }

    async fn edit_text(
        &self,
        target: &Target,
        edit: EditRequest,
        expected: Option<String>,
        confinement: Option<Confinement>,
    ) -> Outcome<EditOutcome> {
        let ticket = self.fs.locks.enqueue(&target.key);
        let mut mutation = self.enter(target, ticket, confinement, "edit").await?;
        Ok(self.edit_now(&mut mutation, &edit, expected.as_deref())?)
    }
}
