//! `figdex map`: adds the FIGI to each row of a file of identifiers (contract 17).
//!
//! - [`columns`] finds the columns of identifiers, and [`names`] names the added columns.
//! - [`question`] makes a question of each row. An [`answerer`] answers it: an [`opened`] index,
//!   with the options in [`wanted`], or a [`remote`] server.
//! - [`rows`] writes each row with its outcome, with the help of [`cells`] and, for the columns of
//!   the past, [`past`]; [`screen`] prints a table, and [`parquet_result`] makes a Parquet file.
//! - [`pipeline`] does all of this at the same time, in order and in bounded memory.
//! - [`outputs`] renames complete files into place, [`report`] counts, [`advice`] names the option
//!   that would decide ambiguous rows, and [`progress`] shows a bar.

mod advice;
mod answerer;
mod cells;
mod columns;
mod left_out;
mod names;
mod opened;
mod outputs;
mod parquet_result;
mod past;
mod pipeline;
mod progress;
mod question;
mod remote;
mod report;
mod rows;
mod screen;
mod wanted;

use std::collections::HashSet;
use std::fs;
use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context as _, bail, ensure};
use figdex_index::{Coverage, Policy, Vocabulary, is_index};
use figdex_ingest::Input;
use figdex_ingest::inspect::parquet;
use figdex_ingest::table::{Batch, Container, Heading, Table};
use figdex_io::{Address, Files, Output, escaped, escaped_path, terminal};

use self::advice::Undecided;
use self::answerer::{Answerer, Narrowing};
use self::columns::{Columns, FoundColumn, Identifier, LISTED_MAX, Reading, TableHead, shortened};
use self::left_out::FooterRule;
use self::names::Names;
use self::opened::OpenedIndex;
use self::outputs::{Destination, Temporary, Writing, is_broken_pipe};
use self::parquet_result::ParquetResult;
use self::past::PastCell;
use self::pipeline::{Check, Rest, Work, Written};
use self::progress::Progress;
use self::question::Questions;
use self::remote::Remote;
use self::report::{Counts, Report};
use self::rows::{Layout, RowWriter, layout_of};
use self::screen::Screen;
use crate::config::as_of::AsOf;
use crate::config::map::{Condition, MapFlags, Value, ending};
use crate::wire::list::unknown_values;

/// The number of rows from which columns are recognised, and the most bytes of these rows.
const HEAD_ROWS: usize = figdex_index::COLUMN_VALUES_MAX;
const HEAD_BYTES_MAX: usize = 32 << 20;

/// Maps the file. The exit code is 1 when fewer rows are resolved than `--min-matched` demands.
pub(super) fn run(flags: &MapFlags) -> anyhow::Result<ExitCode> {
    let start = Instant::now();
    if asked_layout(flags) == Some(figdex_io::RowLayout::Parquet) {
        parquet::supported()?;
    }
    let places = Places::of(flags)?;
    let heading = flags.heading.map_or(Heading::Found, |row| Heading::Row(row as usize));
    let table = Table::open(&input(flags), flags.delimiter.map(|delimiter| delimiter.0), heading)?;
    let task = MapTask { flags, places, table, start };
    match &flags.url {
        Some(url) => task.run(&Remote::open(url, flags)?),
        None => match flags.index()? {
            Address::Folder(index) => task.run(&OpenedIndex::folder(&index, flags)?),
            Address::Cluster(address) => task.run(&OpenedIndex::cluster(&address, flags)?),
            Address::Storage(address) => anyhow::bail!(
                "{address} is copied before it is asked: name the --cache of a server, which is a \
                 folder with its index, or a server with --url"
            ),
        },
    }
}

/// The layout of the result, from `--format` or the ending of `--out`.
fn asked_layout(flags: &MapFlags) -> Option<figdex_io::RowLayout> {
    flags.format.or_else(|| match &*ending(flags.out.as_deref()?)? {
        "csv" | "tsv" | "tab" => Some(figdex_io::RowLayout::Csv),
        "jsonl" | "ndjson" => Some(figdex_io::RowLayout::JsonLines),
        "parquet" => Some(figdex_io::RowLayout::Parquet),
        _ => None,
    })
}

/// The delimiter of rows that become delimited text: a tab if the name of `--out` implies it.
fn cell_delimiter(flags: &MapFlags) -> u8 {
    match flags.out.as_deref().and_then(ending).as_deref() {
        Some("tsv" | "tab") => b'\t',
        _ => b',',
    }
}

/// Refuses a file whose ending contradicts its content. Rows from delimited text keep their
/// delimiter, and the files of unmatched and ambiguous rows hold these as they came.
fn check_endings(flags: &MapFlags, container: Container, layout: Layout) -> anyhow::Result<()> {
    let is_tabs = |path: &Path| matches!(ending(path).as_deref(), Some("tsv" | "tab"));
    if let (Some(out), Layout::Copied { delimiter }) = (&flags.out, layout) {
        ensure!(
            delimiter == b'\t' || !is_tabs(out),
            "--out {}: the rows keep their delimiter, {:?}; name a .csv file",
            escaped_path(out),
            char::from(delimiter)
        );
    }
    let is_delimited = matches!(container, Container::Delimited { .. });
    for (flag, path) in [("--unmatched", &flags.unmatched), ("--ambiguous", &flags.ambiguous)] {
        let Some(path) = path else { continue };
        let (lies, what, name) = match ending(path).as_deref() {
            Some("jsonl" | "ndjson") => (is_delimited, "delimited text", ".csv"),
            Some("csv" | "tsv" | "tab" | "psv") => (!is_delimited, "JSON lines", ".jsonl"),
            _ => continue,
        };
        ensure!(
            !lies,
            "{flag} {}: the rows are written as they came, as {what}; name a {name} file",
            escaped_path(path)
        );
    }
    Ok(())
}

fn input(flags: &MapFlags) -> Input {
    match flags.file.as_os_str() == "-" {
        true => Input::Stdin,
        false => Input::File(flags.file.clone()),
    }
}

/// The files to write. Without `out`, rows go to standard output.
struct Places {
    out: Option<Output>,
    unmatched: Option<Output>,
    ambiguous: Option<Output>,
    report: Option<Output>,
}

impl Places {
    /// Determines the files to write. None of them may be an input or another output.
    fn of(flags: &MapFlags) -> anyhow::Result<Self> {
        let mut files = Files::new(is_index);
        match input(flags) {
            Input::File(path) => files.read("FILE", &path),
            _ => files.read_standard_input(),
        }
        let read = [
            ("--key-file", &flags.key_file),
            ("--ca-file", &flags.ca_file),
            ("--symbols", &flags.symbols),
        ];
        for (flag, path) in read {
            if let Some(path) = path {
                files.read(flag, path);
            }
        }
        if flags.url.is_none()
            && let Address::Folder(index) = flags.index()?
        {
            files.index(&index)?;
        }
        let out = flags.out.as_ref().filter(|path| path.as_os_str() != "-");
        if out.is_none() {
            files.standard_output()?;
        }
        let mut output =
            |flag, path: Option<&PathBuf>| path.map(|path| files.output(flag, path)).transpose();
        Ok(Self {
            out: output("--out", out)?,
            unmatched: output("--unmatched", flags.unmatched.as_ref())?,
            ambiguous: output("--ambiguous", flags.ambiguous.as_ref())?,
            report: output("--report", flags.report.as_ref())?,
        })
    }
}

/// The rows to map, before their columns are known.
struct MapTask<'a> {
    flags: &'a MapFlags,
    places: Places,
    table: Table,
    start: Instant,
}

impl MapTask<'_> {
    /// Recognises the columns, and maps the rows.
    fn run<A: Answerer>(self, answerer: &A) -> anyhow::Result<ExitCode> {
        let Self { flags, places, mut table, start } = self;
        let mut first = read_head(&mut table)?;
        let head = TableHead { container: table.container(), names: table.columns(), rows: &first };
        let columns = Columns::find(&head, flags)?;
        if !columns.has_heading && table.heading().rows() > 0 {
            first.insert(0, table.heading().clone());
        }
        say(&table, &columns);
        if let Some(as_of) = &flags.as_of {
            say_as_of(as_of, answerer.coverage());
        }
        if first.iter().all(|batch| batch.rows() == 0) {
            let file = escaped(table.name());
            let what = match table.heading().rows() {
                0 => "is empty",
                _ => "has a heading and no rows",
            };
            terminal::note(&format_args!(
                "warning: {file} {what}: expected a row for each identifier"
            ));
        }
        Mapping { flags, places, columns, start }.run(answerer, table, first)
    }
}

/// Reads the first rows.
fn read_head(table: &mut Table) -> anyhow::Result<Vec<Batch>> {
    let mut first = Vec::new();
    let (mut rows, mut bytes) = (0, 0);
    while rows < HEAD_ROWS && bytes < HEAD_BYTES_MAX {
        let mut batch = Batch::default();
        if !table.read(&mut batch)? {
            break;
        }
        rows += batch.rows();
        bytes += batch.bytes();
        first.push(batch);
    }
    Ok(first)
}

/// Reports how the table is read and which columns were recognised.
fn say(table: &Table, columns: &Columns) {
    let name = escaped(table.name());
    if let Some(encoding) = table.converted_from() {
        terminal::note(&format_args!("{name}: {encoding}, written as UTF-8"));
    }
    if table.container() == Container::Parquet {
        terminal::note(&format_args!("{name}: a Parquet file"));
    }
    let above = table.titles().rows();
    if above > 0 {
        terminal::note(&format_args!(
            "{name}: the heading is row {}; the rows above it are copied",
            table.heading_row()
        ));
    }
    if !columns.has_heading && table.heading().rows() > 0 {
        let first = escaped(&*table.columns()[0]);
        terminal::note(&format_args!(
            "{name}: no heading; the first row, {first}, is taken as an identifier"
        ));
    }
    let (used, others): (Vec<_>, Vec<_>) = columns.found.iter().partition(|found| found.is_used);
    for found in used {
        terminal::note(&format_args!("column {}: {}", escaped(&*found.name), kind(found, columns)));
    }
    if !others.is_empty() {
        let flags = others.iter().take(LISTED_MAX).map(|found| {
            let id_type = found.id_type.map_or("", figdex_index::IdType::name);
            format!("--id {}:{id_type}", quoted(&found.name))
        });
        let mut flags = flags.collect::<Vec<_>>().join(" ");
        if others.len() > LISTED_MAX {
            flags.push_str(&format!(" … and {} more", others.len() - LISTED_MAX));
        }
        terminal::note(&format_args!("also recognised, and not used: {}", escaped(flags)));
    }
}

/// Reports the days that are asked about and those that the past covers.
fn say_as_of(as_of: &AsOf, coverage: Option<Coverage>) {
    let day = match as_of {
        AsOf::Day(day) => day.to_string(),
        AsOf::Column(name) => format!("the day in the column {}", shortened(name)),
    };
    let past =
        coverage.map(|Coverage { since, until }| format!("; the past is from {since} to {until}"));
    terminal::note(&format_args!("as of {}{}", escaped(day), past.unwrap_or_default()));
}

fn kind(found: &FoundColumn, columns: &Columns) -> String {
    let own = columns.identifiers.iter().find(|identifier| identifier.column == found.column);
    if let Some(Identifier { reading: Reading::TypeIn(types), .. }) = own {
        return format!("of the idType in the column {}", escaped(&*columns.names[*types]));
    }
    match (found.id_type, found.share) {
        (Some(id_type), Some(share)) => {
            format!("{}, {:.1} % of its first values", id_type.name(), share * 100.0)
        }
        (Some(id_type), None) => id_type.name().to_owned(),
        (None, _) => "each value by itself".to_owned(),
    }
}

/// A text, quoted as a word for a shell.
fn quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '=');
    match text.chars().all(is_plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

/// Parses the policy. Warns about each value that no row of the index has.
fn policy(flags: &MapFlags, vocabulary: &Vocabulary) -> anyhow::Result<Policy> {
    for (step, property, value) in unknown_values(&flags.prefer, vocabulary) {
        terminal::note(&format_args!(
            "warning: --prefer {}: the index has no {} {}",
            escaped(step),
            property.name(),
            escaped(value)
        ));
    }
    Ok(Policy::parse(&flags.prefer, vocabulary)?)
}

/// One run, after the columns are known.
struct Mapping<'a> {
    flags: &'a MapFlags,
    places: Places,
    columns: Columns,
    start: Instant,
}

impl Mapping<'_> {
    fn run<A: Answerer>(
        self,
        answerer: &A,
        table: Table,
        first: Vec<Batch>,
    ) -> anyhow::Result<ExitCode> {
        let Self { flags, places, columns, start } = self;
        let narrowing = narrowing(flags, answerer.vocabulary())?;
        let has_candidates = flags.names_as_candidates;
        let is_screen = places.out.is_none() && io::stdout().is_terminal();
        let layout =
            layout_of(table.container(), asked_layout(flags), is_screen, cell_delimiter(flags));
        check_endings(flags, table.container(), layout)?;
        let past: &[PastCell] = match answerer.coverage() {
            Some(_) => PastCell::of(flags.as_of.is_some(), layout == Layout::Screen),
            None => &[],
        };
        let names = Names::new(&columns.names, flags, past);
        match layout {
            Layout::Members => refuse_same(&columns.names, "--format jsonl")?,
            Layout::Parquet => refuse_same(&columns.names, "Parquet")?,
            _ => {}
        }
        let writer = RowWriter {
            layout,
            shown: columns.identifiers.iter().map(|identifier| identifier.column).collect(),
            columns: columns.clone(),
            names,
            fields: flags.fields.clone(),
            many: flags.many,
            guards_formulas: flags.guard_formulas,
            has_type: flags.add_type,
            past,
            has_candidates,
            policy: policy(flags, answerer.vocabulary())?,
            line_end: line_end(&table),
        };
        let mut heading = Vec::new();
        writer.heading(&table, &mut heading);

        let temporary = Temporary::default();
        temporary.remove_on_signals().context("watching for signals")?;
        let create = |output: &Option<Output>| {
            output.as_ref().map(|output| temporary.create(output)).transpose()
        };
        let mut out = match &places.out {
            Some(output) if layout == Layout::Parquet => {
                let rows = ParquetResult::begin(&writer)?;
                Destination::Parquet(Box::new(rows), temporary.create(output)?)
            }
            Some(output) => Destination::File(temporary.create(output)?),
            None if layout == Layout::Screen => Destination::Screen(Screen::new(&heading)),
            None => Destination::Stream,
        };
        let [mut unmatched, mut ambiguous] =
            [create(&places.unmatched)?, create(&places.ambiguous)?];
        let report = create(&places.report)?;
        let own_heading = own_heading(&table, &columns);
        for file in [&mut unmatched, &mut ambiguous].into_iter().flatten() {
            file.write(&own_heading)?;
        }
        if layout != Layout::Screen {
            out.write(&heading)?;
        }

        let progress = match (&out, &input(flags)) {
            (Destination::Screen(_), _) => None,
            (_, Input::File(path)) => {
                let bytes =
                    path.metadata().ok().filter(fs::Metadata::is_file).map(|file| file.len());
                Progress::start(table.bytes_read(), bytes)
            }
            _ => Progress::start(table.bytes_read(), None),
        };
        let undecided = Undecided::default();
        let questions = Questions {
            columns: columns.clone(),
            narrowing,
            day: match flags.as_of {
                Some(AsOf::Day(day)) => Some(day),
                _ => None,
            },
            day_format: flags.as_of_format.clone(),
            undecided,
            names_as_candidates: has_candidates,
        };
        let steps = writer.policy.len();
        let is_copied = matches!(layout, Layout::Copied { .. });
        let work = Work { answerer, questions: &questions, writer: &writer, steps };
        let check = new_members(&writer, table.columns().len());
        let footer = columns.may_have_footer().then(|| FooterRule::of(&columns));
        let rest = Rest { first: first.into(), table, check, footer };
        let mapped = work.run(rest, |written, counts| {
            let Written { rows, unmatched: left, ambiguous: many } = written;
            for (file, bytes) in [(&mut unmatched, left), (&mut ambiguous, many)] {
                if let Some(file) = file {
                    file.write(bytes)?;
                }
            }
            if let Some(progress) = &progress {
                progress.show(counts.rows());
            }
            out.write(rows)
        });
        if let Some(progress) = progress {
            progress.end();
        }
        let mapped = mapped.and_then(|counts| out.end().map(|()| counts));
        let counts = match mapped {
            // The reader of the pipe has ended, as `head` does, and there are no files to write.
            Err(error) if is_broken_pipe(&error) && places.writes_nothing() => {
                return Ok(ExitCode::SUCCESS);
            }
            counts => counts?,
        };
        let mut files: Vec<Writing> = [unmatched, ambiguous].into_iter().flatten().collect();
        if let Destination::File(file) | Destination::Parquet(_, file) = out {
            files.insert(0, file);
        }
        if let Some(mut file) = report {
            let (steps, found) = (&flags.prefer, &columns.found);
            let of = (answerer.generation(), answerer.coverage());
            let report = Report::new(&counts, steps, found, of, start.elapsed());
            file.write(&report.to_json()?)?;
            files.push(file);
        }
        temporary.keep(files)?;
        if let Some(warning) = counts.not_utf_8(is_copied) {
            terminal::note(&warning);
        }
        for advice in questions.undecided.advice(answerer, flags, &columns, &counts) {
            terminal::note(&advice);
        }
        Ok(ended(&counts, flags))
    }
}

/// Prints the sum as the last line. Before it, says whether too few rows are resolved.
fn ended(counts: &Counts, flags: &MapFlags) -> ExitCode {
    let too_few = flags.min_matched.and_then(|min| counts.too_few(min));
    if let Some(too_few) = &too_few {
        terminal::note(&format_args!("figdex: {too_few}"));
    }
    terminal::note(&counts.line());
    if too_few.is_some() { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

impl Places {
    fn writes_nothing(&self) -> bool {
        let Self { out, unmatched, ambiguous, report } = self;
        [out, unmatched, ambiguous, report].into_iter().all(Option::is_none)
    }
}

/// The conditions that are the same for all rows.
fn narrowing(flags: &MapFlags, vocabulary: &Vocabulary) -> anyhow::Result<Narrowing> {
    let mut narrowing = Narrowing::default();
    for Condition { property, value } in &flags.conditions {
        let Value::Fixed(text) = value else { continue };
        let Some(known) = vocabulary.admit(*property, text) else {
            bail!(
                "--where {}={text}: the index has no such value; GET /v3/mapping/values/{} of a \
                 server lists them",
                property.name(),
                property.name()
            );
        };
        narrowing[*property as usize] = Some(known);
    }
    Ok(narrowing)
}

/// The line end of the heading, or LF.
fn line_end(table: &Table) -> Vec<u8> {
    let heading = table.heading();
    let own = if heading.rows() > 0 { heading.row(0).line_end() } else { b"" };
    if own.is_empty() { b"\n".to_vec() } else { own.to_vec() }
}

/// The heading of the files that hold rows as they came.
fn own_heading(table: &Table, columns: &Columns) -> Vec<u8> {
    let mut own = Vec::new();
    if columns.has_heading && table.heading().rows() > 0 {
        let row = table.heading().row(0);
        own.extend_from_slice(table.byte_order_mark());
        own.extend_from_slice(row.content());
        own.extend_from_slice(&line_end(table));
    }
    own
}

/// Refuses two columns of the same name: the members of a JSON object need different names, and so
/// do the columns of Parquet.
fn refuse_same(names: &[String], layout: &str) -> anyhow::Result<()> {
    let mut known = HashSet::new();
    for name in names.iter().filter(|name| !name.is_empty()) {
        ensure!(
            known.insert(name),
            "two columns are named {}: {layout} needs different headings",
            shortened(name)
        );
    }
    Ok(())
}

/// A check that refuses some members that only later objects have: those with the name of an added
/// column and, if the result is delimited text, all others too.
fn new_members(writer: &RowWriter, known: usize) -> Check {
    let added = writer.names.all().to_vec();
    let has_cells = matches!(writer.layout, Layout::Cells { .. } | Layout::Parquet);
    let keeps_members = matches!(writer.layout, Layout::Copied { .. } | Layout::Members);
    Box::new(move |table| {
        if keeps_members {
            return Ok(());
        }
        for name in table.columns().iter().skip(known) {
            let place = || Path::new(table.name()).display().to_string();
            ensure!(
                !added.contains(name),
                "{}: an object has a member {name:?}, which none of the first {HEAD_ROWS} has, and \
                 which is added: rename it",
                escaped(place())
            );
            ensure!(
                !has_cells,
                "{}: an object has a member {name:?}, which none of the first {HEAD_ROWS} has: \
                 write JSON lines with --format jsonl",
                escaped(place())
            );
        }
        Ok(())
    })
}
