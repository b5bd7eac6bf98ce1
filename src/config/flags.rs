//! Flags as typed. What a flag means is said once, in its help.
//!
//! Values stay text here, so that the faults of flags, environment and file are
//! found in one place and told together; see `resolve`.

use std::collections::BTreeSet;
use std::path::PathBuf;

use clap::parser::ValueSource;
use clap::{ArgMatches, Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

/// Finds financial instruments: maps identifiers to FIGIs over HTTP
///
/// Every flag of `serve` can also be given by its environment variable, or in the
/// file that --config names, under the flag's name with underscores
/// (`trust_proxy = true`). A flag beats the environment, which beats the file.
#[derive(Debug, Parser)]
#[command(
    version,
    long_version = figdex_build_info::LONG,
    args_conflicts_with_subcommands = true
)]
pub struct Flags {
    /// What to do; without one, `serve`.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// Flags of `serve`, which may be left out.
    #[command(flatten)]
    pub serve: Box<ServeFlags>,
}

/// The commands of the server program.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serve an index (the default)
    Serve(Box<ServeFlags>),
    /// Print every setting that is in force and where it comes from, as a file that
    /// --config takes; or else all that is wrong with them
    Config(Box<ServeFlags>),
    /// Make, list and revoke API keys; a running server takes them up within seconds
    #[command(subcommand)]
    Keys(KeysCommand),
}

/// What `figdex keys` does.
#[derive(Debug, Subcommand)]
pub enum KeysCommand {
    /// Make a key and print it, this once: the file keeps only its hash
    Add {
        /// What to call the key, for `list` and `revoke`
        name: String,
        /// Where the keys are.
        #[command(flatten)]
        place: KeysFlags,
    },
    /// Print the name of each key, and when it was made
    List {
        /// Where the keys are.
        #[command(flatten)]
        place: KeysFlags,
    },
    /// Take a key away: requests that carry it are refused from then on
    Revoke {
        /// What the key is called
        name: String,
        /// Where the keys are.
        #[command(flatten)]
        place: KeysFlags,
    },
}

/// Where the keys are.
#[derive(Debug, Args)]
pub struct KeysFlags {
    /// The file of the keys; `add` makes it
    #[arg(long, env = "FIGDEX_KEYS", value_name = "FILE")]
    pub keys: Option<String>,
    /// A TOML file of settings, whose `keys` is used when --keys is not given
    #[arg(long, env = "FIGDEX_CONFIG", value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// The names of the flags whose value is that of their environment variable.
    #[arg(skip)]
    pub from_environment: BTreeSet<String>,
}

/// Flags of `figdex serve`.
#[derive(Clone, Debug, Default, Args)]
pub struct ServeFlags {
    /// The folder of the index; when it is not given and not there, one is built from
    /// the bundled sample [default: data/index]
    #[arg(long, env = "FIGDEX_INDEX", value_name = "DIR")]
    pub index: Option<String>,

    /// The address to listen on, or a Unix socket as `unix:/run/figdex/figdex.sock`
    /// [default: 127.0.0.1:8080]
    #[arg(long, env = "FIGDEX_LISTEN", value_name = "ADDR")]
    pub listen: Option<String>,

    /// The certificate to serve TLS with, in PEM, with those that vouch for it; taken
    /// up again when the file changes
    #[arg(long, env = "FIGDEX_TLS_CERT", value_name = "FILE")]
    pub tls_cert: Option<String>,

    /// The private key of --tls-cert, in PEM
    #[arg(long, env = "FIGDEX_TLS_KEY", value_name = "FILE")]
    pub tls_key: Option<String>,
    /// An address of its own for what is for operators: how the server was built, what
    /// it serves and since when, its figures; keep strangers from it [default: none, and
    /// all is on the address of --listen]
    #[arg(long, env = "FIGDEX_ADMIN_LISTEN", value_name = "ADDR")]
    pub admin_listen: Option<String>,

    /// A TOML file of settings; it alone can change the request rates, as in
    /// `[limits.v3.mapping]` with `without_key = "25/60s"`
    #[arg(long, env = "FIGDEX_CONFIG", value_name = "FILE")]
    pub config: Option<PathBuf>,

    /// The file of the API keys, made by `figdex keys add`; without it, a request
    /// with a key is refused
    #[arg(long, env = "FIGDEX_KEYS", value_name = "FILE", help_heading = "Callers and limits")]
    pub keys: Option<String>,

    /// Lift the request rates, and the mapping jobs a minute of v2 and v1; the jobs and
    /// bytes of one request stay limited
    #[arg(
        long,
        env = "FIGDEX_NO_LIMITS",
        value_name = "true|false",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        help_heading = "Callers and limits"
    )]
    pub no_limits: Option<String>,

    /// Tell callers without a key apart by the last address in X-Forwarded-For, the one
    /// that your proxy appends; only for a server that nobody reaches past the proxy
    #[arg(
        long,
        env = "FIGDEX_TRUST_PROXY",
        value_name = "true|false",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        help_heading = "Callers and limits"
    )]
    pub trust_proxy: Option<String>,

    /// The mapping jobs that a request without a key may carry, at most 10000 [default: 10]
    #[arg(
        long,
        env = "FIGDEX_JOBS_PER_REQUEST",
        value_name = "N",
        help_heading = "Callers and limits"
    )]
    pub jobs_per_request: Option<String>,

    /// The mapping jobs that a request with a key may carry, at most 10000 [default: 100]
    #[arg(
        long,
        env = "FIGDEX_JOBS_PER_REQUEST_WITH_KEY",
        value_name = "N",
        help_heading = "Callers and limits"
    )]
    pub jobs_per_request_with_key: Option<String>,

    /// The bytes that the body of a request may have [default: 1048576]
    #[arg(
        long,
        env = "FIGDEX_BODY_BYTES_MAX",
        value_name = "N",
        help_heading = "Callers and limits"
    )]
    pub body_bytes_max: Option<String>,

    /// The connections that there may be at a time; who comes then waits [default: 10000]
    #[arg(long, env = "FIGDEX_CONNECTIONS", value_name = "N", help_heading = "Callers and limits")]
    pub connections: Option<String>,

    /// How many of them one address may have, or `none` for any number; who has more is
    /// refused. Not with --trust-proxy, for the proxy has them all [default: 1000]
    #[arg(
        long,
        env = "FIGDEX_CONNECTIONS_PER_ADDRESS",
        value_name = "N|none",
        help_heading = "Callers and limits"
    )]
    pub connections_per_address: Option<String>,

    /// How long a client may take for the head of a request, and for TLS's handshake
    /// [default: 15s]
    #[arg(
        long,
        env = "FIGDEX_HEAD_TIMEOUT",
        value_name = "TIME",
        help_heading = "Callers and limits"
    )]
    pub head_timeout: Option<String>,

    /// How long a client may take for the body of a request [default: 30s]
    #[arg(
        long,
        env = "FIGDEX_BODY_TIMEOUT",
        value_name = "TIME",
        help_heading = "Callers and limits"
    )]
    pub body_timeout: Option<String>,

    /// How long a connection may be silent between requests, or leave an answer unread
    /// [default: 75s]
    #[arg(
        long,
        env = "FIGDEX_IDLE_TIMEOUT",
        value_name = "TIME",
        help_heading = "Callers and limits"
    )]
    pub idle_timeout: Option<String>,

    /// What a search or filter answer is: the object that clients expect, or that
    /// object in an array, as the published schema says [default: object]
    #[arg(
        long,
        env = "FIGDEX_SEARCH_ENVELOPE",
        value_name = "object|array",
        help_heading = "Answers"
    )]
    pub search_envelope: Option<String>,

    /// What a value outside an enum-like property's set does: refuse the request, or
    /// find nothing [default: reject]
    #[arg(
        long,
        env = "FIGDEX_UNKNOWN_ENUM",
        value_name = "reject|no-match",
        help_heading = "Answers"
    )]
    pub unknown_enum: Option<String>,

    /// Answer requests as the contract has them, without its extension: an array of
    /// values in an enum-like filter of search and filter
    #[arg(
        long,
        env = "FIGDEX_STRICT_CONTRACT",
        value_name = "true|false",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        help_heading = "Answers"
    )]
    pub strict_contract: Option<String>,

    /// Leave the identifiers of instruments out of `GET /instruments/{figi}` [default:
    /// true when --listen is no loopback address, and with --trust-proxy]
    #[arg(
        long,
        env = "FIGDEX_HIDE_IDENTIFIERS",
        value_name = "true|false",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        help_heading = "Answers"
    )]
    pub hide_identifiers: Option<String>,

    /// An origin whose web pages may call this server, as `https://app.example.com`, or `*`
    /// for all; may be repeated, and in the environment separated by commas
    #[arg(
        long,
        env = "FIGDEX_CORS",
        value_name = "ORIGIN",
        value_delimiter = ',',
        help_heading = "Answers"
    )]
    pub cors: Vec<String>,

    /// The address that clients reach this server by, as `https://figi.example.com`, for
    /// the interface description [default: the address that it was asked at]
    #[arg(long, env = "FIGDEX_PUBLIC_URL", value_name = "URL", help_heading = "Answers")]
    pub public_url: Option<String>,

    /// What a line of the log looks like: text for people, or a JSON object [default: human]
    #[arg(long, env = "FIGDEX_LOG_FORMAT", value_name = "human|json", help_heading = "Log")]
    pub log_format: Option<String>,

    /// Log a line for each request: its method, route, status, rows, time and id, never
    /// its key, its body or what it asks for [default: true]
    #[arg(
        long,
        env = "FIGDEX_ACCESS_LOG",
        value_name = "true|false",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        help_heading = "Log"
    )]
    pub access_log: Option<String>,
    /// The names of the flags whose value is that of their environment variable.
    #[arg(skip)]
    pub from_environment: BTreeSet<String>,
}

impl Flags {
    /// What this program was called with. A call that is no usage ends it, as one for
    /// help does: so says clap, of unknown flags, of one given twice and of one without
    /// its value, before any value is looked at.
    pub fn of_program() -> Self {
        let flags = Self::of_matches(&Self::command().get_matches());
        flags.unwrap_or_else(|fault| fault.format(&mut Self::command()).exit())
    }

    fn of_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut flags = Self::from_arg_matches(matches)?;
        let mut innermost = matches;
        while let Some((_, matches)) = innermost.subcommand() {
            innermost = matches;
        }
        let is_variable =
            |name: &&str| innermost.value_source(name) == Some(ValueSource::EnvVariable);
        let names = innermost.ids().map(clap::Id::as_str).filter(is_variable);
        *flags.variables() = names.map(str::to_owned).collect();
        Ok(flags)
    }

    /// Where the flags of the command keep which of them are variables.
    fn variables(&mut self) -> &mut BTreeSet<String> {
        match &mut self.command {
            None => &mut self.serve.from_environment,
            Some(Command::Serve(flags) | Command::Config(flags)) => &mut flags.from_environment,
            Some(Command::Keys(
                KeysCommand::Add { place, .. }
                | KeysCommand::List { place }
                | KeysCommand::Revoke { place, .. },
            )) => &mut place.from_environment,
        }
    }

    /// What to do, said with `serve` or without.
    pub fn into_command(self) -> Command {
        self.command.unwrap_or(Command::Serve(self.serve))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// "Every flag has an environment variable `FIGDEX_…`", and it follows its name.
    #[test]
    fn every_flag_has_its_variable() {
        let command = Flags::command();
        command.clone().debug_assert();
        let flags: Vec<_> =
            command.get_arguments().filter(|arg| arg.get_long().is_some()).collect();
        assert!(flags.len() >= 15);
        for flag in
            flags.iter().filter(|flag| !matches!(flag.get_id().as_str(), "help" | "version"))
        {
            let variable = format!("FIGDEX_{}", flag.get_id().as_str().to_uppercase());
            assert_eq!(flag.get_env(), Some(variable.as_ref()));
            assert!(flag.get_help().is_some_and(|help| !help.to_string().is_empty()));
        }
    }
}
