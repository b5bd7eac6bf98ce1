//! The flags of `figdex map`. Values that need no file are checked here, so that a wrong one is a
//! usage error.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::Error;
use clap::builder::TypedValueParser;
use clap::error::ErrorKind;
use clap::{Arg, Args, ValueEnum};
use figdex_index::{IdType, ListField, Policy, Property, Vendor, Vocabulary};
use figdex_ingest::flags::{ClusterFlags, address, supported_address};
use figdex_ingest::table::HEADING_ROW_MAX;
use figdex_io::{Address, RowLayout, escaped_path};

use super::DEFAULT_INDEX;
use super::as_of::{AsOf, DayFormat};

/// Flags of `figdex map`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP, next_line_help = true)]
pub struct MapFlags {
    /// File with a row for each identifier: delimited text, JSON lines or
    /// Parquet, also compressed with gzip, zstd or bzip2; - for standard
    /// input
    #[arg(value_name = "FILE", verbatim_doc_comment)]
    pub file: PathBuf,
    /// The index: a folder, or an index in a cluster, such as
    /// opensearch+https://host:9200/name [env: FIGDEX_INDEX]
    /// [default: data/index]
    #[arg(
        long,
        value_name = "ADDRESS",
        value_parser = address(),
        conflicts_with = "url",
        verbatim_doc_comment
    )]
    pub index: Option<Address>,
    /// Ask this server instead of an index
    #[arg(long, value_name = "URL", value_parser = UrlParser)]
    pub url: Option<Url>,
    /// File with the API key for the server
    #[arg(long, value_name = "FILE", requires = "url", conflicts_with = "index")]
    pub key_file: Option<PathBuf>,
    /// File of certificates (PEM) to trust, in place of those of the system
    #[arg(long, value_name = "FILE", requires = "url", conflicts_with = "index")]
    pub ca_file: Option<PathBuf>,
    /// Column of identifiers, by its heading or its number: COLUMN,
    /// COLUMN:IDTYPE, COLUMN:symbol:yahoo for symbols of a vendor, or
    /// COLUMN:@COLUMN with a column of idTypes. Repeat the flag for further
    /// columns: the first that finds something counts
    /// [default: recognised]
    #[arg(long = "id", value_name = "COLUMN[:IDTYPE]", verbatim_doc_comment)]
    id_texts: Vec<String>,
    /// The columns of identifiers, once [`Self::check`] has read them.
    #[arg(skip)]
    pub id: Vec<IdColumn>,
    /// Find only rows with this value of a property, as in currency=EUR, or
    /// with the value in a column, as in currency=@Ccy. A blank cell asks for
    /// nothing
    #[arg(long = "where", value_name = "PROPERTY=VALUE", verbatim_doc_comment)]
    pub conditions: Vec<Condition>,
    /// When an identifier has several rows, keep those that fit: composite,
    /// home (the composite in the country of the ISIN), or a property with
    /// values in order of preference, as in 'exchCode=US|LN'. Repeat the flag
    /// for further steps. Nothing is chosen that no step asks for
    #[arg(long, value_name = "STEP", value_parser = step, verbatim_doc_comment)]
    pub prefer: Vec<String>,
    /// Answer with the rows as they were on a day: YYYY-MM-DD, or @COLUMN with
    /// a column of days. The index must have a past
    #[arg(long, value_name = "DAY|@COLUMN", verbatim_doc_comment)]
    pub as_of: Option<AsOf>,
    /// Format of the days in the column of --as-of, such as %d.%m.%Y,
    /// %m/%d/%Y or %Y%m%d [default: YYYY-MM-DD]
    #[arg(long, value_name = "FORMAT", requires = "as_of", verbatim_doc_comment)]
    pub as_of_format: Option<DayFormat>,
    /// Also fill the fields of rows that are historical: with the row that
    /// their FIGI has now
    #[arg(
        long,
        value_name = "historical",
        conflicts_with = "as_of",
        hide_possible_values = true,
        verbatim_doc_comment
    )]
    pub accept: Option<Accepted>,
    /// Fields of the row that is found: figi, name, ticker, exchCode,
    /// compositeFIGI, securityType, marketSector, shareClassFIGI,
    /// securityType2, securityDescription, uniqueID, uniqueIDFutOpt, metadata;
    /// idTypes, such as ID_ISIN or OCC_SYMBOL, several identifiers joined by |;
    /// OCC_SYMBOL:compact, OCC_SYMBOL:padded; and symbols as a vendor spells
    /// them: symbol:yahoo, symbol:google, symbol:tradingview, or those of
    /// --symbols [default: figi,ticker,name,exchCode]
    #[arg(
        long = "fields",
        value_name = "LIST",
        value_delimiter = ',',
        default_value = "figi,ticker,name,exchCode",
        hide_default_value = true,
        verbatim_doc_comment
    )]
    field_names: Vec<String>,
    /// The fields, once [`Self::check`] has read them.
    #[arg(skip)]
    pub fields: Vec<ListField>,
    /// File with the table of vendors and of their symbols, in place of the
    /// table of the program. With --url it only names the vendors: the server
    /// writes and reads symbols by its own table
    #[arg(long, env = "FIGDEX_SYMBOLS", value_name = "FILE", verbatim_doc_comment)]
    pub symbols: Option<PathBuf>,
    /// When several rows are left: none leaves the fields empty; all writes a
    /// row for each, with a column `row`, the number of the input row
    /// [default: none]
    #[arg(
        long,
        value_name = "none|all",
        default_value = "none",
        hide_default_value = true,
        hide_possible_values = true,
        verbatim_doc_comment
    )]
    pub many: Many,
    /// Add a column idType: the type as which the identifier of each row was
    /// read, several joined by |
    #[arg(long, verbatim_doc_comment)]
    pub add_type: bool,
    /// Add a column candidates: for a name that is not resolved, the FIGIs of
    /// up to five securities that it may mean, joined by |. Nothing is
    /// resolved by them
    #[arg(long, conflicts_with = "as_of", verbatim_doc_comment)]
    pub names_as_candidates: bool,
    /// File to write [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Also write the rows that are neither resolved nor ambiguous to this
    /// file, as they came; those of a Parquet file as JSON lines
    #[arg(long, value_name = "FILE", verbatim_doc_comment)]
    pub unmatched: Option<PathBuf>,
    /// Also write the ambiguous rows to this file, as they came; those of a
    /// Parquet file as JSON lines
    #[arg(long, value_name = "FILE", verbatim_doc_comment)]
    pub ambiguous: Option<PathBuf>,
    /// Also write the counts to this file, as JSON
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Exit with 1 when a smaller share of the rows is resolved. The files
    /// are still written
    #[arg(long, value_name = "P%", verbatim_doc_comment)]
    pub min_matched: Option<Percent>,
    /// Put an apostrophe before each cell that a spreadsheet would run as a
    /// formula. JSON lines and Parquet are left as they are
    #[arg(long, verbatim_doc_comment)]
    pub guard_formulas: bool,
    /// Also find equities that are not listed
    #[arg(long)]
    pub include_unlisted_equities: bool,
    /// Layout of the result [default: by the ending of --out, else that of
    /// FILE; csv for Parquet]. parquet needs --out
    #[arg(
        long,
        value_name = "csv|jsonl|parquet",
        hide_possible_values = true,
        verbatim_doc_comment
    )]
    pub format: Option<RowLayout>,
    /// Delimiter between the cells of FILE: a character, or tab
    /// [default: recognised]
    #[arg(long, value_name = "CHARACTER", verbatim_doc_comment)]
    pub delimiter: Option<Delimiter>,
    /// Row of FILE with the headings of its columns, from 1, where they are
    /// not found; the rows above it are copied
    #[arg(
        long,
        value_name = "ROW",
        value_parser = clap::value_parser!(u32).range(1..=i64::from(HEADING_ROW_MAX)),
        verbatim_doc_comment
    )]
    pub heading: Option<u32>,
    /// Flags for a cluster.
    #[command(flatten)]
    pub cluster: ClusterFlags,
}

const AFTER_HELP: &str = "\
Every row comes out, in order, with the columns match, matches, reason and the
fields after its own. match is resolved, ambiguous, unknown or invalid; over an
index with a past also historical or gone, and with --as-of uncertain or
outOfCoverage.

Examples:
  figdex map holdings.csv --prefer composite --out mapped.csv \\
      --unmatched left.csv --min-matched 95%
  figdex map holdings.csv --id ISIN:ID_ISIN --id Ticker:TICKER \\
      --where currency=@Ccy --prefer composite --prefer 'exchCode=US|LN'
  figdex map trades.csv --as-of @TradeDate --as-of-format %d.%m.%Y \\
      --url https://figdex.example.com --key-file key.txt";

impl MapFlags {
    /// The address of the index: from the flag, else from the environment, else the default.
    ///
    /// # Errors
    /// When the value in the environment is not an address, or has a kind that this program was
    /// built without.
    pub fn index(&self) -> anyhow::Result<Address> {
        let given = || std::env::var_os("FIGDEX_INDEX").filter(|value| !value.is_empty());
        match (&self.index, given()) {
            (Some(address), _) => Ok(address.clone()),
            (None, Some(text)) => supported_address(text).map_err(Error::msg),
            (None, None) => Ok(Address::Folder(DEFAULT_INDEX.into())),
        }
    }
}

impl MapFlags {
    /// Reads the names of columns, and checks rules that concern several flags: flags that
    /// contradict each other, and files whose endings contradict their content.
    ///
    /// The names may be those of vendors, so that the table of symbols must be in force.
    ///
    /// # Errors
    /// The message of a usage error.
    pub fn check(&mut self) -> Result<(), String> {
        let id = self.id_texts.iter().map(|text| text.parse());
        self.id = id.collect::<Result<_, _>>().map_err(|fault| format!("--id: {fault}"))?;
        let fields = self.field_names.iter().map(|name| field(name));
        self.fields = fields.collect::<Result<_, _>>()?;
        for (flag, path, holds) in [
            ("--out", &self.out, Holds::Result),
            ("--unmatched", &self.unmatched, Holds::Rows),
            ("--ambiguous", &self.ambiguous, Holds::Rows),
            ("--report", &self.report, Holds::Report),
        ] {
            let Some(path) = path else { continue };
            let named = |what: &str| Err(format!("{flag} {}: {what}", escaped_path(path)));
            if path.as_os_str() == "-" && flag != "--out" {
                return named("only --out may be standard output; name a file");
            }
            if let Some(what) = ending(path).and_then(|ending| holds.refuses(&ending)) {
                return named(&what);
            }
        }
        let is_file = self.out.as_ref().is_some_and(|path| path.as_os_str() != "-");
        if self.format == Some(RowLayout::Parquet) && !is_file {
            return Err("--format parquet is not for a terminal or a pipe; name a file with --out"
                .to_owned());
        }
        if let (Some(path), Some(RowLayout::Csv | RowLayout::JsonLines)) = (&self.out, self.format)
            && ending(path).as_deref() == Some("parquet")
        {
            return Err(format!(
                "--out {}: --format names another layout; leave out --format, or name a .csv or \
                 .jsonl file",
                escaped_path(path)
            ));
        }
        for (place, field) in self.fields.iter().enumerate() {
            if self.fields[..place].contains(field) {
                return Err(format!("--fields names {} twice", field.name()));
            }
        }
        if let Some(field) = self.fields.iter().find(|field| !field.has_past())
            && self.as_of.is_some()
        {
            return Err(format!("--fields {}: the past does not keep it", field.name()));
        }
        if self.as_of_format.is_some() && matches!(self.as_of, Some(AsOf::Day(_))) {
            return Err(
                "--as-of-format is for --as-of @COLUMN; a day is written as YYYY-MM-DD".to_owned()
            );
        }
        let given = |property| self.conditions.iter().any(|given| given.property == property);
        if given(Property::ExchCode) && given(Property::MicCode) {
            return Err("--where takes exchCode or micCode, not both".to_owned());
        }
        for (place, Condition { property, .. }) in self.conditions.iter().enumerate() {
            if self.conditions[..place].iter().any(|before| before.property == *property) {
                return Err(format!("--where names {} twice", property.name()));
            }
        }
        Ok(())
    }
}

/// The ending of a file's name, in lower case.
pub fn ending(path: &Path) -> Option<String> {
    path.extension().and_then(OsStr::to_str).map(str::to_ascii_lowercase)
}

/// The content of a file that is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Holds {
    /// The result.
    Result,
    /// Rows as they came.
    Rows,
    Report,
}

impl Holds {
    /// The reason to refuse a file whose ending contradicts the content of the file.
    fn refuses(self, ending: &str) -> Option<String> {
        let name = match self {
            Self::Result | Self::Rows => "name a .csv or .jsonl file",
            Self::Report => "name a .json file",
        };
        let reason = match ending {
            "parquet" if self != Self::Result => format!("only --out may be Parquet; {name}"),
            "gz" | "zst" | "bz2" | "xz" | "zip" | "7z" => {
                format!("the files are not compressed; leave out .{ending}, and compress it later")
            }
            "xls" | "xlsx" | "xlsm" | "xlsb" | "ods" | "numbers" => {
                format!("spreadsheets are not written; {name}, which they open")
            }
            "json" if self != Self::Report => {
                format!("one JSON document is not written, but JSON lines; {name}")
            }
            "csv" | "tsv" | "tab" | "psv" | "jsonl" | "ndjson" if self == Self::Report => {
                format!("the report is a JSON object; {name}")
            }
            _ => return None,
        };
        Some(reason)
    }
}

/// A column of identifiers (`--id`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdColumn {
    /// Its heading or its number.
    pub column: String,
    /// The type of its identifiers.
    pub id_type: TypeOf,
}

/// The type of the identifiers of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypeOf {
    /// The type is recognised.
    Recognised,
    /// All are of this type.
    Given(IdType),
    /// All are symbols as this vendor spells them.
    Symbol(Vendor),
    /// Each row names the type in this column.
    Column(String),
}

impl FromStr for IdColumn {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let named = |column: &str, id_type| {
            if column.is_empty() {
                return Err(format!("{text:?} names no column; write COLUMN:IDTYPE"));
            }
            Ok(Self { column: column.to_owned(), id_type })
        };
        if let Some((column, vendor)) = text.rsplit_once(SYMBOL) {
            let vendor = Vendor::from_name(&format!("{}{vendor}", &SYMBOL[1..]));
            let vendor = vendor.ok_or_else(|| {
                let names: Vec<_> = Vendor::all().map(Vendor::name).collect();
                let names = names.join(", ");
                format!("{text:?} names no vendor; the vendors are {names}{OTHER_VENDORS}")
            });
            return named(column, TypeOf::Symbol(vendor?));
        }
        let Some((column, id_type)) = text.rsplit_once(':') else {
            return named(text, TypeOf::Recognised);
        };
        if let Some(types) = id_type.strip_prefix('@') {
            return match types {
                "" => Err(format!("{text:?} names no column of idTypes; write COLUMN:@COLUMN")),
                types => named(column, TypeOf::Column(types.to_owned())),
            };
        }
        match IdType::from_name(id_type) {
            Some(id_type) => named(column, TypeOf::Given(id_type)),
            None => Err(format!(
                "{id_type:?} is not an idType; the idTypes are {}. A column whose heading has a \
                 colon is named by its number",
                IdType::ALL.map(IdType::name).join(", ")
            )),
        }
    }
}

/// Separates a column from the vendor whose symbols it has.
const SYMBOL: &str = ":symbol:";

/// The advice for the name of a vendor that the table in force lacks.
const OTHER_VENDORS: &str = ". A file of --symbols may have others";

/// A condition on the rows that an identifier finds (`--where`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// The property.
    pub property: Property,
    /// Its value.
    pub value: Value,
}

/// The value of a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// The same value for all rows.
    Fixed(String),
    /// The row's value in this column.
    Column(String),
}

impl FromStr for Condition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = || {
            format!(
                "expected PROPERTY=VALUE or PROPERTY=@COLUMN with one of the properties {}",
                Property::ALL.map(Property::name).join(", ")
            )
        };
        let (name, value) = text.split_once('=').ok_or_else(expected)?;
        let property = Property::from_name(name).ok_or_else(expected)?;
        let value = match value.strip_prefix('@') {
            Some(column) => Value::Column(column.to_owned()),
            None => Value::Fixed(value.to_owned()),
        };
        let (Value::Fixed(text) | Value::Column(text)) = &value;
        if text.is_empty() {
            return Err(expected());
        }
        Ok(Self { property, value })
    }
}

fn step(text: &str) -> Result<String, String> {
    match Policy::parse([text], &Vocabulary::new([])) {
        Ok(_) => Ok(text.trim().to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

fn field(text: &str) -> Result<ListField, String> {
    ListField::from_name(text).ok_or_else(|| {
        let names: Vec<_> = ListField::names().collect();
        let others = if text.starts_with(&SYMBOL[1..]) { OTHER_VENDORS } else { "" };
        format!("--fields: {text:?} is not a field; the fields are {}{others}", names.join(", "))
    })
}

/// A status whose rows count as matched (`--accept`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Accepted {
    /// Rows whose identifier was of a FIGI that still has a row.
    Historical,
}

/// The rows to write for an ambiguous row (`--many`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Many {
    /// One row, without fields.
    None,
    /// A row for each match.
    All,
}

/// A share of the rows, from 0 to 100 percent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Percent(pub f64);

impl FromStr for Percent {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let percent = text.strip_suffix('%').and_then(|number| number.trim_end().parse().ok());
        let percent = percent.filter(|percent| (0.0..=100.0).contains(percent));
        percent.map(Self).ok_or("expected a percentage from 0% to 100%, such as 95%")
    }
}

/// The delimiter between cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delimiter(pub u8);

impl FromStr for Delimiter {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.as_bytes() {
            b"tab" | b"\\t" => Ok(Self(b'\t')),
            [b'"' | b'\r' | b'\n'] => Err("a quote or a line end cannot be a delimiter"),
            [character] if character.is_ascii() => Ok(Self(*character)),
            _ => Err("expected one ASCII character, or tab"),
        }
    }
}

/// Parses a [`Url`]. An address with a user or a password is refused without printing it; clap
/// would print the value. No server has `@` in its path.
#[derive(Clone)]
pub(super) struct UrlParser;

impl TypedValueParser for UrlParser {
    type Value = Url;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<Url, clap::Error> {
        if value.to_string_lossy().contains('@') {
            let what = "--url has a user or a password, which others can read in the list of \
                        processes; give an API key by --key-file";
            return Err(command.clone().error(ErrorKind::ValueValidation, what));
        }
        Url::from_str.parse_ref(command, argument, value)
    }
}

/// The address of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Url(pub String);

impl FromStr for Url {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let rest = text.strip_prefix("http://").or_else(|| text.strip_prefix("https://"));
        match rest.map(|rest| rest.trim_end_matches('/')) {
            Some(rest) if !rest.is_empty() && !rest.contains(['?', '#', ' ']) => {
                Ok(Self(text.trim_end_matches('/').to_owned()))
            }
            _ => Err("expected http:// or https:// and a host, such as https://figdex.example.com"),
        }
    }
}
