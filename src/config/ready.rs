//! The flags of `figdex ready`, and the address that it asks: the one given, or that of the server
//! whose settings these are.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;

use clap::{Arg, ArgMatches, Args, FromArgMatches, value_parser};

use super::map::Address;
use super::sources::Sources;
use super::{Config, Faults, SettingFlags, flags, values};
use crate::serve::Listen;

/// The longest time to wait for an answer, in seconds.
const TIMEOUT_SECONDS_MAX: u64 = 60;

/// Flags of `figdex ready`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub struct ReadyFlags {
    /// Root of the server to ask: http://…, https://… or unix:PATH [default: --admin-listen, else
    /// --listen]
    #[arg(value_name = "URL")]
    pub url: Option<Asked>,
    /// File of certificates (PEM) to trust, in place of those of the system
    #[arg(long, value_name = "FILE")]
    pub ca_file: Option<PathBuf>,
    /// Seconds to wait for the answer
    #[arg(
        long = "timeout",
        value_name = "SECONDS",
        default_value_t = 3,
        value_parser = value_parser!(u64).range(1..=TIMEOUT_SECONDS_MAX)
    )]
    pub timeout_seconds: u64,
    /// The settings of the server.
    #[command(flatten)]
    pub server: ServerFlags,
}

const AFTER_HELP: &str = "\
Exits with 0 when the server is ready; otherwise with 1, and says why.

Examples:
  figdex ready
  figdex ready http://127.0.0.1:8081 --timeout 1
  figdex ready unix:/run/figdex/figdex.sock";

/// The settings by which a server is found: where it listens, and whether clients use TLS.
#[derive(Debug)]
pub struct ServerFlags(SettingFlags);

/// The settings of [`ServerFlags`].
const NAMES: [&str; 3] = ["listen", "admin_listen", "tls_cert"];

/// What is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asked {
    /// The root of a URL.
    Address(String),
    /// The file of a Unix socket.
    Socket(PathBuf),
}

impl FromStr for Asked {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.strip_prefix("unix:") {
            Some(path) if !path.is_empty() => Ok(Self::Socket(path.into())),
            _ => match text.parse() {
                Ok(Address(address)) => Ok(Self::Address(address)),
                Err(_) => Err("expected the root of a server, such as http://127.0.0.1:8081, \
                               https://figdex.example.com or unix:/run/figdex.sock"),
            },
        }
    }
}

impl fmt::Display for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(address) => f.write_str(address),
            Self::Socket(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

impl ReadyFlags {
    /// What to ask: the URL that is given, else the server of the settings.
    ///
    /// # Errors
    /// When the settings cannot be read, or leave the port to the system.
    pub fn asked(&self) -> Result<Asked, Faults> {
        self.url.clone().map_or_else(|| self.server.asked(), Ok)
    }
}

impl ServerFlags {
    fn asked(&self) -> Result<Asked, Faults> {
        let mut sources = Sources::new(&self.0);
        let (mut listen, mut operators, mut has_tls) = (Config::default().listen, None, false);
        sources.apply("listen", false, |text| values::listen(text).map(|place| listen = place));
        sources.apply("admin_listen", false, |text| {
            values::listen(text).map(|place| operators = Some(place))
        });
        sources.apply("tls_cert", false, |text| values::path(text).map(|_| has_tls = true));
        if !sources.faults.is_empty() {
            return Err(Faults(sources.faults));
        }
        // The operators' address has no TLS.
        let (place, scheme) = match operators {
            Some(place) => (place, "http"),
            None => (listen, if has_tls { "https" } else { "http" }),
        };
        match place {
            Listen::Tcp(address) if address.port() == 0 => {
                let fault = format!("the port of {address} is chosen by the system: name the URL");
                Err(Faults(vec![fault]))
            }
            Listen::Tcp(address) => Ok(Asked::Address(format!("{scheme}://{}", own(address)))),
            Listen::Unix(path) => Ok(Asked::Socket(path)),
        }
    }
}

/// The address by which a program on the same machine reaches a listener.
fn own(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

impl Args for ServerFlags {
    fn augment_args(command: clap::Command) -> clap::Command {
        let help = "TOML file of the server's settings, which say where it listens";
        let found = |arg: Arg| arg.help_heading(None);
        command.args(flags::named(&NAMES).map(found)).arg(flags::config().help(help))
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for ServerFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        SettingFlags::from_arg_matches(matches).map(Self)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.0.update_from_arg_matches(matches)
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::config::{Command, Flags};

    fn asked(arguments: &[&str]) -> Result<String, String> {
        let flags = Flags::try_parse_from([&["figdex", "ready"], arguments].concat()).unwrap();
        let Command::Ready(flags) = flags.into_command() else { panic!("another command") };
        flags.asked().map(|asked| asked.to_string()).map_err(|faults| faults.to_string())
    }

    #[test]
    fn the_server_of_the_settings_is_asked() {
        for (arguments, expected) in [
            (&[][..], "http://127.0.0.1:8080"),
            (&["--listen=0.0.0.0:9000"], "http://127.0.0.1:9000"),
            (&["--listen=[::]:9000", "--tls-cert=x"], "https://[::1]:9000"),
            (&["--listen=[::]:9000", "--admin-listen=10.0.0.1:1"], "http://10.0.0.1:1"),
            (&["--tls-cert=x", "--admin-listen=127.0.0.1:1"], "http://127.0.0.1:1"),
            (&["--listen=unix:/run/x"], "unix:/run/x"),
            (&["https://a.example/b/", "--listen=0.0.0.0:9000"], "https://a.example/b"),
        ] {
            assert_eq!(asked(arguments).as_deref(), Ok(expected));
        }
        assert!(asked(&["--listen=[::]:0"]).unwrap_err().contains("name the URL"));
        assert!(asked(&["--config=absent.toml"]).unwrap_err().contains("absent.toml"));
    }
}
