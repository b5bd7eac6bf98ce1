//! A cluster for tests: one host that holds a generation, and answers as a test says.

use std::collections::HashMap;
use std::future::ready;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use figdex_index::{BuildOptions, Builder, Catalogue, Figi, Instrument};
use figdex_io::Address;
use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::client::{Client, Failure, Reply, Request, Sending, Wire};
use crate::generation::Generation;
use crate::schema::About;

/// The name of the index.
pub(crate) const NAME: &str = "name";

/// The index of its generation.
pub(crate) const INDEX: &str = "name-000001";

/// A status and a body for each request.
type Answering = Box<dyn FnMut(&Request<'_>) -> (u16, String) + Send>;

/// The number of requests that a cluster got, and its answers by the last part of their paths.
#[derive(Default)]
struct Exchanged {
    answers: HashMap<&'static str, Answering>,
    requests: usize,
}

impl Wire for Arc<Mutex<Exchanged>> {
    fn send<'a>(&'a self, _host: usize, request: &'a Request<'a>) -> Sending<'a> {
        let mut exchanged = self.lock();
        exchanged.requests += 1;
        let end = request.path.last().copied().unwrap_or_default();
        let (status, body) = match exchanged.answers.get_mut(end) {
            Some(answer) => answer(request),
            None => (404, json!({"error": {"type": "absent", "reason": end}}).to_string()),
        };
        Box::pin(ready(match body.len() > request.answer_bytes_max {
            true => Err(Failure::too_long(request)),
            false => Ok(Reply { status, body: body.into() }),
        }))
    }
}

/// A cluster that holds the generation of a folder.
pub(crate) struct Cluster {
    exchanged: Arc<Mutex<Exchanged>>,
    folder: tempfile::TempDir,
}

impl Cluster {
    /// One with a single instrument.
    pub(crate) fn of_one_instrument() -> Self {
        let figi = Figi::parse("BBG000BLNNH6").unwrap();
        Self::of(Instrument { ticker: Some("IBM".to_owned()), ..Instrument::new(figi) })
    }

    /// One with this instrument.
    pub(crate) fn of(instrument: Instrument) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut builder = Builder::create(folder.path(), BuildOptions::default()).unwrap();
        builder.add(instrument).unwrap();
        builder.publish(Vec::new()).unwrap();
        let exchanged = Arc::new(Mutex::new(Exchanged::default()));
        let cluster = Self { exchanged, folder };
        let settings = json!({INDEX: {"settings": {"index.uuid": "u"}}});
        cluster.answer("index.uuid", 200, settings.to_string());
        cluster.answer("_mapping", 200, cluster.mapping().to_string());
        cluster.answer("_search", 200, cluster.found().to_string());
        cluster
    }

    /// Answers requests whose path ends so from now on.
    pub(crate) fn answer(&self, end: &'static str, status: u16, body: impl Into<String>) {
        let body = body.into();
        self.answer_with(end, move || (status, body.clone()));
    }

    /// Answers each request whose path ends so with what a function returns.
    pub(crate) fn answer_with(
        &self,
        end: &'static str,
        mut answer: impl FnMut() -> (u16, String) + Send + 'static,
    ) {
        self.exchanged.lock().answers.insert(end, Box::new(move |_| answer()));
    }

    /// Answers searches, of one question or of several, with what a function returns for the
    /// questions.
    #[cfg(feature = "http")]
    pub(crate) fn answer_questions(
        &self,
        answers: impl FnMut(&[Value]) -> Vec<Value> + Send + 'static,
    ) {
        let answers = Arc::new(Mutex::new(answers));
        let for_one = Arc::clone(&answers);
        let one = move |request: &Request<'_>| {
            let answers = (for_one.lock())(&[question_of(body_of(request))]);
            (200, answers[0].to_string())
        };
        let several = move |request: &Request<'_>| {
            let questions: Vec<Value> =
                body_of(request).lines().skip(1).step_by(2).map(question_of).collect();
            (200, json!({"responses": (answers.lock())(&questions)}).to_string())
        };
        let mut exchanged = self.exchanged.lock();
        exchanged.answers.insert("_search", Box::new(one));
        exchanged.answers.insert("_msearch", Box::new(several));
    }

    /// The number of requests until now.
    pub(crate) fn requests(&self) -> usize {
        self.exchanged.lock().requests
    }

    /// The index folder whose generation it holds.
    pub(crate) fn folder(&self) -> &std::path::Path {
        self.folder.path()
    }

    pub(crate) fn client(&self) -> Arc<Client> {
        let Ok(Address::Cluster(address)) = "opensearch+http://host/name".parse() else { panic!() };
        Arc::new(Client::over(Box::new(self.exchanged.clone()), Vec::new(), &address, 8))
    }

    pub(crate) fn open(&self) -> Generation {
        wait_for(Generation::open(self.client(), NAME)).unwrap()
    }

    /// The mapping of the index.
    pub(crate) fn mapping(&self) -> Value {
        let about = About::of(&Catalogue::open(self.folder()).unwrap(), 1).unwrap();
        json!({INDEX: {"mappings": {"_meta": {"figdex": about}}}})
    }

    /// The whole answer to a question that finds the instrument.
    pub(crate) fn found(&self) -> Value {
        let mut stored = Vec::new();
        let each = |_: &Instrument, document: figdex_index::Document| {
            stored = document.stored;
            Ok::<_, figdex_index::Error>(())
        };
        Catalogue::open(self.folder()).unwrap().documents(each).unwrap();
        json!({
            "timed_out": false,
            "_shards": {"total": 2, "successful": 2, "failed": 0},
            "hits": {
                "total": {"value": 1},
                "hits": [{"_score": null, "fields": {"instrument": [STANDARD.encode(&stored)]}}],
            },
        })
    }
}

#[cfg(feature = "http")]
fn body_of<'a>(request: &'a Request<'_>) -> &'a str {
    let (_, body) = request.body.as_ref().unwrap();
    str::from_utf8(body).unwrap()
}

#[cfg(feature = "http")]
fn question_of(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// Carries out some calls.
pub(crate) fn wait_for<T>(calls: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(calls)
}
