//! Answers from a server, by `POST /resolve` (contract 17). The rate limits are kept, and lists are
//! cut into requests that fit.

mod client;
mod shapes;

use std::path::Path;

use anyhow::{Context as _, bail, ensure};
use figdex_index::{Field, Property, Vocabulary};
use figdex_ingest::terminal;
use parking_lot::Mutex;

use self::client::{Client, Reply};
use self::shapes::{Request, answers, values};
use super::engine::{Answer, Asked, Engine};
use crate::config::map::{Address, Many, MapFlags};

/// The jobs of a request, until a server says how many it takes.
const JOBS_FIRST: usize = 100;

/// The most jobs of a request to a server without rate limits, and in any case.
const JOBS_MAX: usize = 1_000;

/// The identifiers that a request counts as one of a window, without a key and with one (contract
/// 17.8).
const JOBS_COUNTED_AS_ONE: usize = 10;
const JOBS_COUNTED_AS_ONE_WITH_KEY: usize = 100;

/// A row of an answer: the fields that were asked for, escaped as inside a JSON string.
pub(super) type RemoteRow = Vec<Option<Box<str>>>;

/// A server, with what is asked of every identifier.
pub(super) struct Remote {
    fields: Vec<Field>,
    prefer: Vec<String>,
    keeps_all: bool,
    include_unlisted_equities: bool,
    vocabulary: Vocabulary,
    /// Requests are sent one at a time, since all of them count in one window.
    connection: Mutex<Connection>,
}

struct Connection {
    client: Client,
    /// The most jobs of the next request.
    jobs_max: usize,
    jobs_counted_as_one: usize,
    generation: Option<u64>,
}

impl Remote {
    /// A client of the server at this address. It asks for the values of the properties that the
    /// flags use.
    ///
    /// # Errors
    /// When a file of the flags cannot be read, or the server does not answer.
    pub(super) fn open(address: &Address, flags: &MapFlags) -> anyhow::Result<Self> {
        let key = flags.key_file.as_deref().map(key).transpose()?;
        let jobs_counted_as_one = match key {
            Some(_) => JOBS_COUNTED_AS_ONE_WITH_KEY,
            None => JOBS_COUNTED_AS_ONE,
        };
        let mut client = Client::new(address, key, flags.ca_file.as_deref())?;
        let mut known = Vec::new();
        for property in properties(flags) {
            let Reply { body, .. } =
                client.get(&format!("/v3/mapping/values/{}", property.name()))?;
            known.extend(values(&body)?.into_iter().map(|value| (property, value)));
        }
        Ok(Self {
            fields: flags.fields.clone(),
            prefer: flags.prefer.clone(),
            keeps_all: flags.many == Many::All,
            include_unlisted_equities: flags.include_unlisted_equities,
            vocabulary: Vocabulary::new(known),
            connection: Mutex::new(Connection {
                client,
                jobs_max: JOBS_FIRST,
                jobs_counted_as_one,
                generation: None,
            }),
        })
    }

    fn request<'a>(&'a self, jobs: &'a [Asked<'a>]) -> Request<'a> {
        Request {
            jobs,
            vocabulary: &self.vocabulary,
            prefer: &self.prefer,
            fields: &self.fields,
            include_unlisted_equities: self.include_unlisted_equities,
        }
    }
}

/// The properties whose values the flags use. Those of `optionType` are fixed.
fn properties(flags: &MapFlags) -> Vec<Property> {
    let steps = flags.prefer.iter().filter_map(|step| step.split_once('='));
    let steps = steps.filter_map(|(name, _)| Property::from_name(name.trim()));
    let conditions = flags.conditions.iter().map(|condition| condition.property);
    let mut all: Vec<Property> = steps.chain(conditions).collect();
    all.sort_unstable();
    all.dedup();
    all.retain(|property| *property != Property::OptionType);
    all
}

/// The API key in a file.
fn key(path: &Path) -> anyhow::Result<String> {
    let name = figdex_index::escaped_path(path);
    let text = std::fs::read_to_string(path).with_context(|| format!("--key-file {name}"))?;
    let key = text.trim();
    ensure!(
        !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_graphic()),
        "--key-file {name}: expected the API key and nothing else"
    );
    Ok(key.to_owned())
}

impl Engine for Remote {
    type Row = RemoteRow;

    fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    fn generation(&self) -> Option<u64> {
        self.connection.lock().generation
    }

    fn resolve(&self, asked: &[Asked<'_>]) -> anyhow::Result<Vec<Answer<RemoteRow>>> {
        let path = if self.keeps_all { "/resolve?many=all" } else { "/resolve" };
        let mut all = Vec::with_capacity(asked.len());
        while all.len() < asked.len() {
            let mut connection = self.connection.lock();
            let jobs = &asked[all.len()..];
            let jobs = &jobs[..jobs.len().min(connection.jobs_max)];
            let body = self.request(jobs).to_json();
            let reply = connection.client.post(path, &body)?;
            if let Some(fits) = reply.too_many {
                // The number that the server names, or half.
                let fewer = fits.filter(|fits| *fits < jobs.len()).unwrap_or(jobs.len() / 2);
                if fewer == 0 {
                    bail!("the server takes no request, not even with one identifier");
                }
                connection.jobs_max = fewer;
                continue;
            }
            let request = (&*self.prefer, &*self.fields);
            let (generation, answers) = answers(&reply.body, jobs.len(), request, self.keeps_all)?;
            connection.take(&reply, generation);
            all.extend(answers);
        }
        Ok(all)
    }

    fn field(&self, row: &RemoteRow, field: Field, out: &mut Vec<u8>) -> bool {
        let place = self.fields.iter().position(|asked| *asked == field);
        match place.and_then(|place| row.get(place)?.as_ref()) {
            Some(text) => {
                out.extend_from_slice(text.as_bytes());
                true
            }
            None => false,
        }
    }
}

impl Connection {
    /// Takes from an answer the generation, and how many identifiers the next request may have.
    fn take(&mut self, reply: &Reply, generation: u64) {
        if let Some(earlier) = self.generation.replace(generation)
            && earlier != generation
        {
            terminal::note(&format_args!(
                "warning: the server switched from generation {earlier} to {generation}; run the \
                 command again for answers of one generation"
            ));
        }
        self.jobs_max = match &reply.window {
            None => JOBS_MAX,
            Some(window) => {
                let most = if window.remaining > 0 { window.remaining } else { window.limit };
                (most as usize).saturating_mul(self.jobs_counted_as_one).clamp(1, JOBS_MAX)
            }
        };
    }
}
