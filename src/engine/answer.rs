//! Asks whichever engine there is, and has the answer written where it was found: of an index on this
//! machine at once or else in a turn, of a cluster after its answer came.

use std::sync::Arc;

use figdex_index::{Catalogue, Fetched, Meter, Vocabulary};
use figdex_opensearch::Generation;
use tokio::time::Instant;

use super::rows::Rows;
use super::turn::Turns;
use super::which::Engine;
use crate::callers::error::ApiError;
use crate::http::pieces::Pieces;
use crate::observe::log::seldom::Seldom;
use crate::request;

/// A question, and the way to ask either engine.
pub(crate) trait Ask: Send {
    type Answer: Send + Sync + 'static;

    /// The answer of an index on this machine; `None` when it takes more work than the meter allows.
    /// The question may keep the work that was done, for the turn.
    ///
    /// # Errors
    /// [`ApiError::Internal`] when the index cannot be read.
    fn here(&mut self, index: &Catalogue, meter: &Meter) -> Result<Option<Self::Answer>, ApiError>;

    /// The answer of an index in a cluster, with the rows that it names.
    ///
    /// # Errors
    /// [`ApiError::Unavailable`] when the cluster does not answer.
    fn there(
        &mut self,
        cluster: Cluster<'_>,
    ) -> impl Future<Output = Result<(Fetched, Self::Answer), ApiError>> + Send;
}

/// A cluster that is asked for one request.
#[derive(Clone, Copy)]
pub(crate) struct Cluster<'a> {
    pub(super) index: &'a Arc<Generation>,
    /// The id of the request, for the log of the cluster.
    pub(super) id: Option<&'a str>,
    /// For the work on what the cluster has answered.
    pub(super) turns: Turns<'a>,
}

/// Questions that borrow from the body of their request, so that they are read again in a turn.
pub(crate) trait Batch: Send + Sync + 'static {
    type Questions<'a>: Ask<Answer = Self::Answers>;
    /// The same questions without a reference to the body.
    type Owned: Ask<Answer = Self::Answers> + 'static;
    type Answers: Send + Sync + 'static;
    /// Everything besides the answers on which the reply depends. It borrows nothing.
    type Rest: Send + Sync + 'static;
    type Error: From<ApiError> + Send + 'static;

    /// Reads the questions; `None` when that takes more work than the meter allows.
    ///
    /// # Errors
    /// The error of the whole request.
    fn read(
        &self,
        vocabulary: &Vocabulary,
        meter: &Meter,
    ) -> Result<Option<(Self::Questions<'_>, Self::Rest)>, Self::Error>;

    fn into_owned(questions: Self::Questions<'_>) -> Self::Owned;

    /// Writes the reply; `None` when that takes more work than the meter allows. The whole price is
    /// asked for first, so that no half of a reply is written in vain.
    fn write(
        &self,
        rows: Rows<'_>,
        rest: &Self::Rest,
        answers: &Self::Answers,
        meter: &Meter,
    ) -> Option<Pieces>;
}

impl Engine {
    /// Asks a question, and has the answer written.
    ///
    /// # Errors
    /// Those of [`Ask`], and [`ApiError::Unavailable`] when there is no turn in time.
    pub(crate) async fn ask<Q: Ask + 'static, T: Send + 'static>(
        self,
        turns: Turns<'_>,
        mut question: Q,
        write: impl Fn(&Q, Rows<'_>, Q::Answer) -> T + Send + 'static,
    ) -> Result<T, ApiError> {
        match self {
            Self::Local(index) => {
                let work = move |meter: &Meter| {
                    let answer = question.here(&index, meter)?;
                    Ok(answer.map(|answer| write(&question, Rows::Here(&index), answer)))
                };
                turns.work(work).await
            }
            Self::OpenSearch(index) => {
                let id = request::id();
                let cluster = Cluster { index: &index, id: Some(id.as_str()), turns };
                let (rows, answer) = question.there(cluster).await?;
                Ok(write(&question, Rows::Fetched(&rows), answer))
            }
        }
    }

    /// Asks the questions of a batch, and has the answers written.
    ///
    /// # Errors
    /// Those of the batch and of [`Ask`], and [`ApiError::Unavailable`] when there is no turn in
    /// time.
    pub(crate) async fn answer<B: Batch>(
        self,
        turns: Turns<'_>,
        batch: B,
    ) -> Result<Pieces, B::Error> {
        match self {
            Self::Local(index) => {
                let mut found = None;
                let work = move |meter: &Meter| {
                    if found.is_none() {
                        let read = batch.read(index.vocabulary(), meter)?;
                        let Some((mut questions, rest)) = read else { return Ok(None) };
                        let answers = questions.here(&index, meter)?;
                        found = answers.map(|answers| (rest, answers));
                    }
                    Ok(found.as_ref().and_then(|(rest, answers)| {
                        batch.write(Rows::Here(&index), rest, answers, meter)
                    }))
                };
                turns.work(work).await
            }
            Self::OpenSearch(index) => {
                let batch = Arc::new(batch);
                let (reader, of) = (batch.clone(), index.clone());
                let read = move |meter: &Meter| {
                    let read = reader.read(of.vocabulary(), meter)?;
                    Ok(read.map(|(questions, rest)| (B::into_owned(questions), rest)))
                };
                let (mut questions, rest) = turns.work::<_, B::Error>(read).await?;
                let id = request::id();
                let cluster = Cluster { index: &index, id: Some(id.as_str()), turns };
                let (rows, answers) = questions.there(cluster).await?;
                let write = move |meter: &Meter| {
                    Ok(batch.write(Rows::Fetched(&rows), &rest, &answers, meter))
                };
                turns.work(write).await
            }
        }
    }
}

/// The error of a request whose index cannot be read. `what` says for the log what has failed.
pub(super) fn unreadable(what: &'static str) -> impl Fn(figdex_index::Error) -> ApiError {
    move |error| {
        tracing::error!(%error, request_id = %request::id(), "{what}");
        ApiError::Internal
    }
}

/// The error of a request that a cluster did not answer. The log says why, once in a while: without
/// a cluster, every request is refused.
pub(super) fn unanswered(error: figdex_opensearch::Error) -> ApiError {
    static UNANSWERED: Seldom = Seldom::new();
    if let Some(others) = UNANSWERED.occurs(Instant::now()) {
        let (reason, request_id) = (figdex_index::chain(&error), request::id());
        tracing::error!(reason, %request_id, others, "the cluster did not answer");
    }
    ApiError::Unavailable
}
