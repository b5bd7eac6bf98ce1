//! The command line. Values stay text here, so that errors in flags, environment and file are
//! reported together by [`Config::resolve`](super::Config::resolve).

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, FromArgMatches, Parser, Subcommand, value_parser};

use super::map::MapFlags;
use super::table::{SETTINGS, Setting, Takes};
use super::{Config, DEFAULT_INDEX, Provenance};

/// Maps identifiers of financial instruments to FIGIs over HTTP
///
/// Every flag of `serve` has an environment variable, and a key in the file that --config
/// names: the flag's name with underscores (`trust_proxy = true`). A flag overrides the
/// environment, which overrides the file.
#[derive(Debug, Parser)]
#[command(
    version,
    long_version = figdex_build_info::LONG,
    args_conflicts_with_subcommands = true
)]
pub struct Flags {
    /// The command; `serve` when there is none.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// The flags of `serve`, when that word is left out.
    #[command(flatten)]
    pub serve: SettingFlags,
}

/// The commands of the server program.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serve an index (the default)
    Serve(SettingFlags),
    /// Print all settings in force and the origin of each, as a file for --config, or all
    /// errors in them
    Config(SettingFlags),
    /// Print how an index would answer a question
    Explain(ExplainFlags),
    /// Map a file of identifiers to FIGIs; every row comes out, with its match
    Map(Box<MapFlags>),
    /// Add, list and revoke API keys; a running server applies changes within seconds
    #[command(subcommand)]
    Keys(KeysCommand),
}

/// Flags of `figdex explain`.
#[derive(Debug, Args)]
pub struct ExplainFlags {
    /// JSON file with a search or filter request, a mapping job or an array of mapping jobs; -
    /// for standard input
    #[arg(value_name = "QUESTION")]
    pub question: PathBuf,
    /// Folder of the index
    #[arg(long, env = "FIGDEX_INDEX", value_name = "DIR", default_value = DEFAULT_INDEX)]
    pub index: PathBuf,
}

/// The commands of `figdex keys`.
#[derive(Debug, Subcommand)]
pub enum KeysCommand {
    /// Add a key and print it. It is shown only once: the file keeps its hash
    Add {
        /// Name of the key, for `list` and `revoke`
        name: String,
        /// The file of the keys.
        #[command(flatten)]
        place: KeysFlags,
    },
    /// Print the time of creation and the name of each key
    List {
        /// The file of the keys.
        #[command(flatten)]
        place: KeysFlags,
    },
    /// Revoke a key: requests that carry it are refused from then on
    Revoke {
        /// Name of the key
        name: String,
        /// The file of the keys.
        #[command(flatten)]
        place: KeysFlags,
    },
}

/// The settings that flags and environment variables give, as text.
#[derive(Clone, Debug, Default)]
pub struct SettingFlags {
    /// `--config`: the file of settings.
    pub config: Option<PathBuf>,
    /// The texts of each setting that is given, by its name, and their origin.
    pub(super) given: BTreeMap<&'static str, (Vec<String>, Provenance)>,
}

/// The flags that name the file of the keys: `--keys`, and `--config` for a file that does.
#[derive(Debug)]
pub struct KeysFlags(pub SettingFlags);

impl Flags {
    /// The command to run.
    pub fn into_command(self) -> Command {
        self.command.unwrap_or(Command::Serve(self.serve))
    }
}

impl Args for SettingFlags {
    fn augment_args(command: clap::Command) -> clap::Command {
        let defaults = Config::default();
        let flags = SETTINGS.iter().map(|setting| flag(setting, &defaults));
        let help = "TOML file of settings. Only the file can change the request rates, as in \
                    `[limits.v3.mapping]` with `without_key = \"25/60s\"`";
        command.arg(config().help(help)).args(flags)
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for SettingFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let given = SETTINGS.iter().filter_map(|Setting { name, .. }| {
            // `figdex keys` has only one of them.
            let texts = matches.try_get_many::<String>(name).ok()??;
            let is_variable = matches.value_source(name) == Some(ValueSource::EnvVariable);
            let provenance = if is_variable { Provenance::Variable } else { Provenance::Flag };
            Some((*name, (texts.cloned().collect(), provenance(name))))
        });
        Ok(Self { given: given.collect(), config: matches.get_one("config").cloned() })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for KeysFlags {
    fn augment_args(command: clap::Command) -> clap::Command {
        let keys = SETTINGS.iter().filter(|setting| setting.name == "keys");
        let keys = keys.map(|setting| {
            let flag = flag(setting, &Config::default()).help_heading(None);
            flag.help("File of the API keys; `add` creates it")
        });
        let help = "TOML file of settings, whose `keys` applies when --keys is not given";
        command.args(keys).arg(config().help(help))
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for KeysFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        SettingFlags::from_arg_matches(matches).map(Self)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.0.update_from_arg_matches(matches)
    }
}

fn config() -> Arg {
    let file = Arg::new("config").long("config").env("FIGDEX_CONFIG").value_name("FILE");
    file.value_parser(value_parser!(PathBuf))
}

/// The flag of a setting, with its variable and its default.
fn flag(setting: &Setting, defaults: &Config) -> Arg {
    let flag = Arg::new(setting.name)
        .long(setting.name.replace('_', "-"))
        .env(Provenance::Variable(setting.name).to_string())
        .help(setting.flag_help(defaults))
        .help_heading(setting.heading);
    match setting.takes {
        Takes::One(value) => flag.value_name(value),
        Takes::Switch => flag
            .value_name("true|false")
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("true"),
        Takes::List(value) => flag.value_name(value).value_delimiter(',').action(ArgAction::Append),
    }
}
