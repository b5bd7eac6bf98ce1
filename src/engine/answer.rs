//! Asks the engine, and writes the answer. For an index on this machine, both are one piece of
//! work, done at once or else in a turn. For a cluster, the answer is written after its rows have
//! come.

use std::ops::Deref;
use std::sync::Arc;

use figdex_index::{Catalogue, Fetched, Meter, Vocabularies};
use figdex_opensearch::Generation;
use tokio::time::Instant;

use super::rows::FoundRows;
use super::turn::Turns;
use super::which::Engine;
use crate::callers::error::ApiError;
use crate::http::pieces::Pieces;
use crate::observe::log::seldom::Seldom;
use crate::request;

/// A question, and the way to ask either engine.
pub(crate) trait Ask: Send {
    type Answer: Send + Sync + 'static;

    /// Asks an index on this machine. If the meter stops the work, a question may keep what is
    /// done, and continue in its turn.
    fn here(&mut self, index: &Catalogue, meter: &Meter) -> FoundHere<Self::Answer>;

    /// Asks an index in a cluster.
    fn there(
        &mut self,
        cluster: Cluster<'_>,
    ) -> impl Future<Output = FoundThere<Self::Answer>> + Send;
}

/// The answer of an index on this machine; `None` when it takes more work than the meter allows.
pub(super) type FoundHere<A> = Result<Option<A>, ApiError>;

/// The answer of an index in a cluster, with the rows that it names.
pub(super) type FoundThere<A> = Result<(Fetched, A), ApiError>;

/// A cluster that is asked for one request.
#[derive(Clone, Copy)]
pub(crate) struct Cluster<'a> {
    pub(super) index: &'a Arc<Generation>,
    /// The id of the request, for the log of the cluster.
    pub(super) id: Option<&'a str>,
    /// For the work on the cluster's answers.
    pub(super) turns: Turns<'a>,
}

/// Questions that borrow from the body of their request. A turn that continues unfinished questions
/// reads them again.
pub(crate) trait Batch: Send + Sync + Sized + 'static {
    type Questions<'a>: Ask<Answer = Self::Answers>;
    /// The same questions without a reference to the body.
    type Owned: Ask<Answer = Self::Answers> + 'static;
    type Answers: Send + Sync + 'static;
    /// Everything that the reply depends on, except the answers. It borrows nothing.
    type Rest: Send + Sync + 'static;
    type Error: From<ApiError> + Send + 'static;

    /// Reads the questions.
    ///
    /// # Errors
    /// The error of the whole request.
    fn read<'a>(
        &'a self,
        body: &'a [u8],
        vocabulary: Vocabularies<'_>,
        meter: &Meter,
    ) -> BatchRead<'a, Self>;

    fn into_owned(questions: Self::Questions<'_>) -> Self::Owned;

    /// Writes the reply; `None` when that takes more work than the meter allows, or the client has
    /// gone. The whole price is asked for first, so the limit of the meter never stops a
    /// half-written reply.
    ///
    /// # Errors
    /// When the rows cannot be read.
    fn write(
        &self,
        rows: FoundRows<'_>,
        found: &(Self::Rest, Self::Answers),
        meter: &Meter,
    ) -> Result<Option<Pieces>, ApiError>;
}

/// The questions of a batch, and its [`Batch::Rest`]; `None` when reading them takes more work than
/// the meter allows.
pub(crate) type BatchRead<'a, B> =
    Result<Option<(<B as Batch>::Questions<'a>, <B as Batch>::Rest)>, <B as Batch>::Error>;

impl Engine {
    /// Asks a question, and writes the answer with `write`.
    ///
    /// # Errors
    /// [`ApiError::Internal`] when the index cannot be read. [`ApiError::Unavailable`] when the
    /// cluster does not answer, when there is no turn in time, or when the client has gone.
    pub(crate) async fn ask<Q: Ask + 'static, T: Send + 'static>(
        self,
        turns: Turns<'_>,
        mut question: Q,
        write: impl Fn(&Q, FoundRows<'_>, Q::Answer) -> T + Send + 'static,
    ) -> Result<T, ApiError> {
        match self {
            Self::Local(index) => {
                let work = move |meter: &Meter| {
                    let answer = question.here(&index, meter)?;
                    Ok(answer.map(|answer| write(&question, FoundRows::Here(&index), answer)))
                };
                turns.work(work).await
            }
            // In a box, or the future of every request would have room for it.
            Self::OpenSearch(index) => Box::pin(asked_there(index, turns, question, write)).await,
        }
    }

    /// Asks the questions of a batch, and writes the answers. The body is freed as soon as no turn
    /// can need it again.
    ///
    /// # Errors
    /// Those of [`Batch::read`] and [`Engine::ask`].
    pub(crate) async fn answer<B: Batch>(
        self,
        turns: Turns<'_>,
        batch: B,
        body: impl Deref<Target = [u8]> + Send + 'static,
    ) -> Result<Pieces, B::Error> {
        match self {
            Self::Local(index) => {
                let (mut body, mut found) = (Some(body), None);
                let work = move |meter: &Meter| {
                    if let Some(unread) = &body {
                        let read = batch.read(unread, index.vocabularies(), meter)?;
                        let Some((mut questions, rest)) = read else { return Ok(None) };
                        let answers = questions.here(&index, meter)?;
                        found = answers.map(|answers| (rest, answers));
                    }
                    if found.is_some() {
                        body = None;
                    }
                    let rows = FoundRows::Here(&index);
                    match &found {
                        Some(found) => Ok(batch.write(rows, found, meter)?),
                        None => Ok(None),
                    }
                };
                turns.work(work).await
            }
            Self::OpenSearch(index) => Box::pin(answered_there(index, turns, batch, body)).await,
        }
    }
}

async fn asked_there<Q: Ask, T>(
    index: Arc<Generation>,
    turns: Turns<'_>,
    mut question: Q,
    write: impl Fn(&Q, FoundRows<'_>, Q::Answer) -> T,
) -> Result<T, ApiError> {
    let id = request::id();
    let cluster = Cluster { index: &index, id: Some(id.as_str()), turns };
    let (rows, answer) = question.there(cluster).await?;
    Ok(write(&question, FoundRows::Fetched(&rows), answer))
}

async fn answered_there<B: Batch>(
    index: Arc<Generation>,
    turns: Turns<'_>,
    batch: B,
    body: impl Deref<Target = [u8]> + Send + 'static,
) -> Result<Pieces, B::Error> {
    let batch = Arc::new(batch);
    let (reader, of) = (batch.clone(), index.clone());
    let read = move |meter: &Meter| {
        // A cluster has no past.
        let today = of.vocabulary();
        let read = reader.read(&body, today.into(), meter)?;
        Ok(read.map(|(questions, rest)| (B::into_owned(questions), rest)))
    };
    let (mut questions, rest) = turns.work::<_, B::Error>(read).await?;
    let id = request::id();
    let cluster = Cluster { index: &index, id: Some(id.as_str()), turns };
    let (rows, answers) = questions.there(cluster).await?;
    let found = (rest, answers);
    let write = move |meter: &Meter| Ok(batch.write(FoundRows::Fetched(&rows), &found, meter)?);
    turns.work(write).await
}

/// The index could not be read, for example because a file was changed after it was opened. The
/// error is logged.
impl From<figdex_index::Error> for ApiError {
    fn from(error: figdex_index::Error) -> Self {
        let error = figdex_index::chain(&error);
        tracing::error!(error, request_id = %request::id(), "the index could not be asked");
        Self::Internal
    }
}

/// The cluster did not answer. The reason is logged only now and then: while the cluster is away,
/// all requests that need the cluster fail.
impl From<figdex_opensearch::Error> for ApiError {
    fn from(error: figdex_opensearch::Error) -> Self {
        static UNANSWERED: Seldom = Seldom::new();
        if let Some(others) = UNANSWERED.occurs(Instant::now()) {
            let (reason, request_id) = (figdex_index::chain(&error), request::id());
            tracing::error!(reason, %request_id, others, "the cluster did not answer");
        }
        Self::Unavailable
    }
}
