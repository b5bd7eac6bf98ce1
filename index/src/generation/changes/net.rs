//! The net change between two generations: from one up to their last common ancestor, by files
//! turned round, then down to the other. A rollback needs no separate rule, and an instrument
//! that changed and changed back is not in it.

use std::io::ErrorKind::NotFound;
use std::path::Path;

use super::file::{ChangeFile, Records};
use super::{Changed, change_file};
use crate::error::{Error, Result};
use crate::generation::id::GenerationId;
use crate::instrument::figi::Figi;
use crate::meter::{INLINE_UNITS_MAX, Meter};

/// The most files between two generations. A reader that is further behind exports again.
pub const FILES_MAX: usize = 64;

/// The most changes that are read in one walk. A walk pauses there, even if nothing differs.
const READ_MAX: usize = 200_000;

/// The most blocks of all files between two generations. Their tables are in memory while a page is
/// read: 40 bytes a block, about 10 MB. A reader that is further behind, by some 30 GB of changes,
/// exports again.
const BLOCKS_MAX: usize = 256 << 10;

/// The units of work of opening a file, and those of an entry of its table.
const FILE_UNITS: u64 = 5_000;
const BLOCK_UNITS: u64 = 2;

/// The units of work of a change, apart from reading it: it is compared and passed on.
const CHANGE_UNITS: u64 = 100;

/// The reason why there is no net change.
#[derive(Debug, thiserror::Error)]
pub enum NetError {
    /// The generation is unknown here, or the changes since then are no longer kept.
    #[error("the changes since {0} are not kept")]
    NotKept(GenerationId),
    /// A generation on the way changed most of the instruments, or all of them together changed
    /// more than can be read at once.
    #[error("most instruments have changed since {0}")]
    TooMany(GenerationId),
    /// There are more generations on the way than [`FILES_MAX`].
    #[error("there are more than {FILES_MAX} generations since {0}")]
    TooFar(GenerationId),
    /// The files cannot be read.
    #[error(transparent)]
    Index(#[from] Error),
}

/// The net change from one generation to another.
pub struct Net {
    /// The files on the way, and whether each is turned round.
    way: Vec<(ChangeFile, bool)>,
}

/// The end of a walk over a net change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Walked {
    /// Every change was passed on.
    Done,
    /// The next walk begins from this FIGI.
    Paused(Figi),
    /// The meter refused a charge.
    TakesMore,
}

/// A file on the way, at its next change.
struct FileAt<'a> {
    records: Records<'a>,
    is_turned: bool,
    next: Option<Changed>,
}

impl Net {
    /// Finds the way from the generation `since` to the generation `target`, by the change files
    /// in an index folder.
    ///
    /// # Errors
    /// [`NetError`].
    pub fn between(
        index: &Path,
        since: GenerationId,
        target: GenerationId,
    ) -> Result<Self, NetError> {
        let net = Self::between_metered(index, since, target, &Meter::unlimited())?;
        Ok(net.expect("the meter has no bound"))
    }

    /// As [`Net::between`]; `None` when that takes more work than the meter allows.
    ///
    /// # Errors
    /// [`NetError`].
    pub fn between_metered(
        index: &Path,
        since: GenerationId,
        target: GenerationId,
        meter: &Meter,
    ) -> Result<Option<Self>, NetError> {
        if since == target {
            return Ok(Some(Self { way: Vec::new() }));
        }
        // Files are opened in a turn, never on a thread that serves all connections.
        if meter.require(INLINE_UNITS_MAX + 1).is_err() {
            return Ok(None);
        }
        let mut climbs = [Climb::of(target), Climb::of(since)];
        let common = loop {
            let [to, from] = &climbs;
            if let Some(common) = from.ids.iter().find(|id| to.ids.contains(id)) {
                break *common;
            }
            if climbs.iter().all(Climb::is_over) {
                return Err(NetError::of(climbs, since));
            }
            // Side by side, so that no file is read that lies above both.
            for climb in climbs.iter_mut().filter(|climb| !climb.is_over()) {
                if meter.charge(FILE_UNITS).is_err() {
                    return Ok(None);
                }
                climb.step(index);
            }
        };
        let [to, from] = climbs.map(|climb| climb.below(common));
        let turned = from.into_iter().map(|step| (step, true));
        let steps: Vec<_> = turned.chain(to.into_iter().rev().map(|step| (step, false))).collect();
        if steps.len() > FILES_MAX {
            return Err(NetError::TooFar(since));
        }
        let blocks: usize = steps.iter().map(|(step, _)| step.blocks).sum();
        if blocks > BLOCKS_MAX || steps.iter().any(|(step, _)| step.is_marker) {
            return Err(NetError::TooMany(since));
        }
        let units = FILE_UNITS * steps.len() as u64 + BLOCK_UNITS * blocks as u64;
        if meter.charge(units).is_err() {
            return Ok(None);
        }
        let mut way = Vec::with_capacity(steps.len());
        for (step, is_turned) in steps {
            match ChangeFile::open(&change_file(index, step.id)) {
                Ok(file) => way.push((file, is_turned)),
                // A build removed it meanwhile, because it was old.
                Err(Error::Io { source, .. }) if source.kind() == NotFound => {
                    return Err(NetError::NotKept(since));
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(Some(Self { way }))
    }

    /// Calls `each` with the net changes of FIGIs from `first` on, in FIGI order, while it returns
    /// that there is room for more. Only one change is in memory at a time, and a block of each
    /// file. The walk also pauses when it has read many changes of which few are left over.
    ///
    /// # Errors
    /// The first error of `each`. [`Error::Damaged`] when files contradict each other or cannot be
    /// read.
    pub fn walk<E: From<Error>>(
        &self,
        first: Option<Figi>,
        meter: &Meter,
        mut each: impl FnMut(Changed) -> Result<bool, E>,
    ) -> Result<Walked, E> {
        let mut sources = Vec::with_capacity(self.way.len());
        for (file, is_turned) in &self.way {
            let mut source =
                FileAt { records: file.from(first), is_turned: *is_turned, next: None };
            source.advance(meter)?;
            sources.push(source);
        }
        let (mut has_room, mut read) = (true, 0);
        loop {
            let figi = sources.iter().filter_map(FileAt::figi).min();
            let Some(figi) = figi else { return Ok(Walked::Done) };
            if !has_room || read >= READ_MAX {
                return Ok(Walked::Paused(figi));
            }
            let mut net: Option<Changed> = None;
            for source in sources.iter_mut().filter(|source| source.figi() == Some(figi)) {
                let Some(Changed { before, after }) = source.take(meter)? else { continue };
                read += 1;
                if meter.charge(CHANGE_UNITS).is_err() {
                    return Ok(Walked::TakesMore);
                }
                net = Some(match net {
                    None => Changed { before, after },
                    Some(earlier) => {
                        // Both are the same image, if no generation between the two files lacks.
                        let seam = Changed { before: earlier.after, after: before };
                        if !seam.is_equal() {
                            let what = format!("{figi} was also changed elsewhere meanwhile");
                            return Err(Error::damaged(source.records.path(), what).into());
                        }
                        Changed { before: earlier.before, after }
                    }
                });
            }
            if let Some(net) = net.filter(|net| !net.is_equal()) {
                has_room = each(net)?;
            }
        }
    }

    /// Calls `each` with every net change, in FIGI order.
    ///
    /// # Errors
    /// As [`Net::walk`].
    pub fn for_each<E: From<Error>>(
        &self,
        mut each: impl FnMut(Changed) -> Result<(), E>,
    ) -> Result<(), E> {
        let (mut first, meter) = (None, Meter::unlimited());
        while let Walked::Paused(next) =
            self.walk(first, &meter, |changed| each(changed).map(|()| true))?
        {
            first = Some(next);
        }
        Ok(())
    }
}

/// A generation, its parent and so on, as far as files are kept.
struct Climb {
    ids: Vec<GenerationId>,
    /// The file of each of `ids`, except the last. Files are closed again, so that only one table
    /// is in memory, whatever a stranger has written.
    steps: Vec<ClimbStep>,
    end: Option<End>,
}

/// A change file that was looked at.
#[derive(Clone, Copy)]
struct ClimbStep {
    id: GenerationId,
    blocks: usize,
    is_marker: bool,
}

/// The reason why a climb goes no further.
enum End {
    NotKept,
    TooFar,
    Unreadable(Error),
}

impl Climb {
    fn of(id: GenerationId) -> Self {
        Self { ids: vec![id], steps: Vec::new(), end: None }
    }

    fn is_over(&self) -> bool {
        self.end.is_some()
    }

    /// Goes on to the parent.
    fn step(&mut self, index: &Path) {
        let last = self.ids[self.ids.len() - 1];
        if self.steps.len() > FILES_MAX {
            self.end = Some(End::TooFar);
            return;
        }
        let path = change_file(index, last);
        let damaged = |what| Some(End::Unreadable(Error::damaged(&path, what)));
        self.end = match ChangeFile::open(&path) {
            Ok(file) if file.summary().id != last => damaged("it is of another generation"),
            Ok(file) if self.ids.contains(&file.summary().parent) => {
                damaged("its parent comes after it")
            }
            Ok(file) => {
                let (summary, blocks) = (file.summary(), file.blocks());
                self.ids.push(summary.parent);
                self.steps.push(ClimbStep { id: last, blocks, is_marker: summary.is_marker });
                None
            }
            // There is none, or an earlier version wrote it.
            Err(Error::ForeignFormat { .. }) => Some(End::NotKept),
            Err(Error::Io { source, .. }) if source.kind() == NotFound => Some(End::NotKept),
            Err(error) => Some(End::Unreadable(error)),
        };
    }

    /// The steps from the generation up to `above`, which it has reached.
    fn below(self, above: GenerationId) -> Vec<ClimbStep> {
        self.steps.into_iter().take_while(|step| step.id != above).collect()
    }
}

impl NetError {
    /// The reason why two climbs did not meet.
    fn of(climbs: [Climb; 2], since: GenerationId) -> Self {
        // A generation without a file is perhaps one that never was here.
        let is_known = !climbs[1].steps.is_empty();
        let mut is_far = false;
        for climb in climbs {
            match climb.end {
                Some(End::Unreadable(error)) => return Self::Index(error),
                Some(End::TooFar) => is_far = true,
                Some(End::NotKept) | None => {}
            }
        }
        if is_far && is_known { Self::TooFar(since) } else { Self::NotKept(since) }
    }
}

impl FileAt<'_> {
    fn figi(&self) -> Option<Figi> {
        self.next.as_ref().map(Changed::figi)
    }

    fn take(&mut self, meter: &Meter) -> Result<Option<Changed>> {
        let taken = self.next.take();
        self.advance(meter)?;
        Ok(taken)
    }

    fn advance(&mut self, meter: &Meter) -> Result<()> {
        let next = self.records.next(meter)?;
        self.next = next.map(|changed| match self.is_turned {
            true => Changed { before: changed.after, after: changed.before },
            false => changed,
        });
        Ok(())
    }
}
