//! Answers from a server, by `POST /resolve` (contract 17). Rate limits are respected, and lists
//! are cut into requests that fit.
//!
//! | file | what it does |
//! |---|---|
//! | `client` | requests: TLS, the key, waiting, trying again |
//! | `headers` | the figures that the headers of an answer state |
//! | `patience` | the bounds of the time that a server may take |
//! | `room` | the number of identifiers that the next request may have |
//! | `shapes` | the JSON of requests and answers |

mod client;
mod headers;
mod patience;
mod room;
mod shapes;
#[cfg(test)]
mod tests;

use anyhow::{bail, ensure};
use figdex_index::{Coverage, Date, Field, IdType, ListField, Property, Vocabulary};
use figdex_io::terminal;
use parking_lot::Mutex;

use self::client::{ANSWER_BYTES_MAX, Client, Reply};
use self::patience::Bounds;
use self::room::Room;
use self::shapes::{
    AnswerOptions, Answers, ListRequest, RemoteRow, answers, bytes, coverage, values,
};
use super::answerer::{Answer, Answerer, Asked};
use crate::callers::limits::CANDIDATE_JOB_PRICE;
use crate::commands::to_server::key;
use crate::config::as_of::AsOf;
use crate::config::map::{Many, MapFlags, Url};

/// The number of identifiers that count as one request of a window, without a key and with one. It
/// is used until the server states its own (contract 17.8).
const JOBS_COUNTED_AS_ONE: usize = 10;
const JOBS_COUNTED_AS_ONE_WITH_KEY: usize = 100;

/// The most bytes of answers that are held for a group of identifiers. With `--many all`, each of
/// the 64 identifiers of a group may have 15,000 rows, with up to 400 bytes each if all fields are
/// requested.
const KEPT_BYTES_MAX: usize = 384 << 20;

/// The field that the columns of the past and candidates need.
const FIGI: ListField = ListField::Row(Field::Figi);

/// A server, with the options that apply to every identifier.
pub(super) struct Remote {
    fields: Vec<ListField>,
    prefer: Vec<String>,
    keeps_all: bool,
    include_unlisted_equities: bool,
    /// The day as of which all identifiers are asked, if it is the same for all.
    as_of: Option<Date>,
    is_as_of: bool,
    accepts_historical: bool,
    vocabulary: Vocabulary,
    /// The days that the past of the server covers.
    coverage: Option<Coverage>,
    /// Requests are sent one at a time, since all of them count in one window.
    session: Mutex<Session>,
}

/// The state that requests share.
struct Session {
    client: Client,
    room: Room,
    /// The room of requests for candidates, which count as more.
    room_of_names: Room,
    generation: Option<u64>,
    /// The idTypes that the server does not show.
    not_shown: Vec<IdType>,
}

impl Remote {
    /// A client of the server at this address. It fetches the values of the properties that the
    /// flags use.
    ///
    /// # Errors
    /// When a file of the flags cannot be read, or the server does not answer.
    pub(super) fn open(address: &Url, flags: &MapFlags) -> anyhow::Result<Self> {
        let key = flags.key_file.as_deref().map(key).transpose()?;
        let jobs_counted_as_one = match key {
            Some(_) => JOBS_COUNTED_AS_ONE_WITH_KEY,
            None => JOBS_COUNTED_AS_ONE,
        };
        let mut client = Client::new(address, key, flags.ca_file.as_deref(), Bounds::COMMAND)?;
        let coverage = past_of(&mut client, flags)?;
        let mut known = Vec::new();
        for property in properties(flags) {
            let path = format!("/v3/mapping/values/{}", property.name());
            let Reply::Answer { body, .. } = client.get(&path)? else {
                bail!("the server has no room to list the values of {}", property.name());
            };
            known.extend(values(&body)?.into_iter().map(|value| (property, value)));
        }
        Ok(Self {
            fields: flags.fields.clone(),
            prefer: flags.prefer.clone(),
            keeps_all: flags.many == Many::All,
            include_unlisted_equities: flags.include_unlisted_equities,
            as_of: match flags.as_of {
                Some(AsOf::Day(day)) => Some(day),
                _ => None,
            },
            is_as_of: flags.as_of.is_some(),
            accepts_historical: flags.accept.is_some(),
            vocabulary: Vocabulary::new(known),
            coverage,
            session: Mutex::new(Session {
                client,
                room: Room::new(jobs_counted_as_one),
                room_of_names: Room::new((jobs_counted_as_one / CANDIDATE_JOB_PRICE).max(1)),
                generation: None,
                not_shown: Vec::new(),
            }),
        })
    }

    /// The answers, with the candidates of names if `has_candidates`.
    fn ask(
        &self,
        asked: &[Asked<'_>],
        has_candidates: bool,
    ) -> anyhow::Result<Vec<Answer<RemoteRow>>> {
        let fields = if has_candidates { &[FIGI][..] } else { &self.fields };
        let keeps_all = self.keeps_all && !has_candidates;
        let path = match (has_candidates, keeps_all) {
            (true, _) => "/resolve?candidates=true",
            (false, true) => "/resolve?many=all",
            (false, false) => "/resolve",
        };
        let wanted = AnswerOptions {
            prefer: &self.prefer,
            fields,
            keeps_all,
            accepts_historical: self.accepts_historical,
            has_past: self.coverage.is_some(),
            is_as_of: self.is_as_of,
        };
        // The columns of the past need the FIGI of each row.
        let figi = self.coverage.is_some() && !fields.contains(&FIGI);
        let sent: Vec<ListField> = fields.iter().copied().chain(figi.then_some(FIGI)).collect();
        let mut all = Vec::with_capacity(asked.len());
        let mut kept = 0;
        while all.len() < asked.len() {
            let mut session = self.session.lock();
            let Session { client, room, room_of_names, .. } = &mut *session;
            let room = if has_candidates { room_of_names } else { room };
            let jobs = &asked[all.len()..];
            let jobs = &jobs[..jobs.len().min(room.jobs())];
            let request = ListRequest {
                jobs,
                vocabulary: &self.vocabulary,
                prefer: &self.prefer,
                fields: &sent,
                include_unlisted_equities: self.include_unlisted_equities,
                as_of: self.as_of,
            };
            let (body, stated) = match client.post(path, &request.to_json())? {
                Reply::Answer { body, stated } => (body, stated),
                Reply::TooMany(named) => {
                    ensure!(
                        room.refused(jobs.len(), named),
                        "the server takes no request, not even with one identifier"
                    );
                    continue;
                }
                Reply::TooLong => {
                    ensure!(
                        jobs.len() > 1,
                        "the answer of the server to one identifier has more than {} MB",
                        ANSWER_BYTES_MAX >> 20
                    );
                    room.answered(jobs.len() / 2, jobs.len());
                    continue;
                }
            };
            let Answers { generation, answers } = answers(&body, jobs.len(), wanted)?;
            room.take(&stated);
            room.answered(answers.len(), jobs.len());
            client.answered(answers.len());
            session.note(generation);
            session.note_not_shown(&stated.not_shown);
            drop(session);
            kept += answers.iter().map(bytes).sum::<usize>();
            ensure!(
                kept <= KEPT_BYTES_MAX,
                "the answers to {} identifiers have more than {} MB; ask for fewer --fields, or use \
                 --index",
                asked.len(),
                KEPT_BYTES_MAX >> 20
            );
            all.extend(answers);
        }
        Ok(all)
    }
}

/// The days that the past of a server covers; `None` without a past.
///
/// # Errors
/// When a flag asks for the past, and the server has none or does not answer.
fn past_of(client: &mut Client, flags: &MapFlags) -> anyhow::Result<Option<Coverage>> {
    const ABOUT: &str = "/about";
    if flags.as_of.is_none() {
        return Ok(client.find(ABOUT).and_then(|body| coverage(&body)));
    }
    let found = match client.get(ABOUT)? {
        Reply::Answer { body, .. } => coverage(&body),
        Reply::TooMany(_) | Reply::TooLong => None,
    };
    ensure!(found.is_some(), "the index of the server keeps no past, which --as-of asks for");
    Ok(found)
}

/// The properties whose values the flags use. `optionType` is left out: its values are fixed.
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

impl Answerer for Remote {
    type Row = RemoteRow;

    fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    fn coverage(&self) -> Option<Coverage> {
        self.coverage
    }

    fn generation(&self) -> Option<u64> {
        self.session.lock().generation
    }

    fn resolve(&self, asked: &[Asked<'_>]) -> anyhow::Result<Vec<Answer<RemoteRow>>> {
        self.ask(asked, false)
    }

    fn candidates(&self, asked: &[Asked<'_>]) -> anyhow::Result<Vec<Answer<RemoteRow>>> {
        self.ask(asked, true)
    }

    fn field(&self, row: &RemoteRow, field: ListField, out: &mut Vec<u8>) -> bool {
        let place = self.fields.iter().position(|asked| *asked == field);
        let text = place.and_then(|place| row.field(place));
        out.extend_from_slice(text.unwrap_or_default().as_bytes());
        text.is_some()
    }
}

impl Session {
    /// Warns of columns that the server leaves empty for this caller, once for each idType.
    fn note_not_shown(&mut self, id_types: &[IdType]) {
        for id_type in id_types {
            if self.not_shown.contains(id_type) {
                continue;
            }
            self.not_shown.push(*id_type);
            let name = id_type.name();
            terminal::note(&format_args!(
                "warning: the server does not show {name} to this caller, so its column is empty; \
                 an internal key (--key-file) may see it"
            ));
        }
    }

    /// Records the generation of an answer, and reports a change.
    fn note(&mut self, generation: u64) {
        if let Some(earlier) = self.generation.replace(generation)
            && earlier != generation
        {
            terminal::note(&format_args!(
                "warning: the server switched from generation {earlier} to {generation}; run the \
                 command again for answers of one generation"
            ));
        }
    }
}
