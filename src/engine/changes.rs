//! The changes between two generations (contract 19). They are in files of the index folder, so
//! only an index on this machine has them.

use figdex_index::{Changed, Figi, GenerationId, Meter, NetError, Visible, Walked};

use super::turn::Turns;
use super::which::Engine;
use crate::callers::error::{ApiError, OpenError};
use crate::callers::limits::IMAGE_UNITS;

/// The changes that a page asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ChangesAsked {
    /// The generation that the caller has.
    pub(crate) since: GenerationId,
    /// The generation up to which the changes go.
    pub(crate) target: GenerationId,
    /// The FIGI from which the page begins.
    pub(crate) first: Option<Figi>,
    /// The idTypes that the caller may see. A change that shows in no other column is left out.
    pub(crate) visible: Visible,
}

/// The advice of every answer about changes that are not there.
const EXPORT_AGAIN: &str =
    "Export the whole index again (`figdex-ingest export`), and go on from its token.";

impl Engine {
    /// Writes a page of the net change. `new` begins a page, and `add` writes a change and says
    /// whether the page has room for more. Returns the page, and the FIGI from which the next one
    /// begins.
    ///
    /// # Errors
    /// - [`OpenError::Gone`] when the changes are not there any more.
    /// - [`OpenError::NotFound`] when the index is in a cluster.
    /// - The first error of `add`.
    /// - The errors of [`Turns::work`], and [`ApiError::Internal`] when a file cannot be read.
    pub(crate) async fn changes<P: Send + 'static>(
        self,
        turns: Turns<'_>,
        asked: ChangesAsked,
        new: impl Fn() -> P + Send + 'static,
        add: impl Fn(&mut P, &Changed) -> Result<bool, OpenError> + Send + 'static,
    ) -> Result<(P, Option<Figi>), OpenError> {
        let Self::Local(index) = self else {
            return Err(OpenError::NotFound("An index in a cluster has no changes."));
        };
        let work = move |meter: &Meter| {
            let ChangesAsked { since, target, first, visible } = asked;
            let Some(net) = index.net(since, target, meter)? else { return Ok(None) };
            let mut page = new();
            // A panic is a 500: without one of its changes a page would leave a gap.
            let walked = net.walk(first, meter, |changed| {
                // If the meter refuses, the walk ends before the next change.
                let _ = meter.charge(IMAGE_UNITS * images(&changed));
                match changed.shown(visible) {
                    Some(changed) => add(&mut page, &changed),
                    None => Ok(true),
                }
            })?;
            Ok(match walked {
                _ if meter.check().is_err() => None,
                Walked::Done => Some((page, None)),
                Walked::Paused(next) => Some((page, Some(next))),
                Walked::TakesMore => None,
            })
        };
        turns.work(work).await
    }
}

fn images(changed: &Changed) -> u64 {
    u64::from(changed.before.is_some()) + u64::from(changed.after.is_some())
}

impl From<NetError> for OpenError {
    fn from(error: NetError) -> Self {
        let reason = match error {
            NetError::Index(error) => return Self::Line(error.into()),
            NetError::NotKept(_) => {
                "This token is unknown here, or the changes since then are not kept any more."
            }
            NetError::TooMany(_) => "Too much has changed since this token.",
            NetError::TooFar(_) => "There were too many builds since this token.",
        };
        Self::Gone(format!("{reason} {EXPORT_AGAIN}"))
    }
}

impl From<figdex_index::Error> for OpenError {
    fn from(error: figdex_index::Error) -> Self {
        Self::Line(ApiError::from(error))
    }
}
