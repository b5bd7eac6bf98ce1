//! A temporary PostgreSQL server from Debian's packages: in a temporary folder, with a socket there,
//! removed at the end.
//!
//! PostgreSQL refuses to run as root. So if root runs this, the server runs as `postgres` or
//! `nobody`.
//!
//! Tuning: a quarter of the memory for `shared_buffers`, and half of the memory assumed for the
//! system's cache; memory to sort and to build indexes; no syncing and the smallest log; no
//! compilation of statements (`jit`), and no vacuum during a measurement. Random pages are assumed
//! to be about as cheap as sequential ones, which holds in memory.

use std::ffi::OsString;
use std::os::unix::fs::{MetadataExt as _, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use postgres::{Client, Config, NoTls};

/// The folder of Debian's packages, with a folder for each version.
const PACKAGES: &str = "/usr/lib/postgresql";

/// The name of the superuser and of the database, which `initdb` creates.
const USER: &str = "postgres";

/// The time that the server has to start listening.
const START_TIMEOUT: Duration = Duration::from_secs(60);

pub(crate) struct Server {
    process: Child,
    programs: Programs,
    folder: tempfile::TempDir,
}

/// The server's programs, and the user to run them.
struct Programs {
    folder: PathBuf,
    /// Numbers of the user and of the group.
    run_as: Option<(u32, u32)>,
}

impl Server {
    /// Checks that the packages are installed.
    ///
    /// # Errors
    /// When they are not; the message says how to install them.
    pub(crate) fn is_installed() -> Result<()> {
        newest()
            .map(drop)
            .context("PostgreSQL is left out: `apt-get install postgresql` and run again")
    }

    pub(crate) fn start() -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("figdex-peers-").tempdir()?;
        // The folder belongs to the user of this program.
        let run_as = if folder.path().metadata()?.uid() == 0 {
            let (user, group) = unprivileged()?;
            chown(folder.path(), Some(user), Some(group))?;
            Some((user, group))
        } else {
            None
        };
        let programs =
            Programs { folder: newest().context("PostgreSQL is not installed")?, run_as };
        let data = folder.path().join("data");
        let made = programs
            .command("initdb", folder.path())
            .arg("--pgdata")
            .arg(&data)
            .args(["--username", USER, "--auth=trust", "--no-sync"])
            .args(["--locale=C", "--encoding=UTF8"])
            .output()?;
        ensure!(made.status.success(), "initdb: {}", String::from_utf8_lossy(&made.stderr));
        let mut server = programs.command("postgres", folder.path());
        server.arg("-D").arg(&data).arg("-k").arg(folder.path());
        for (name, value) in settings()? {
            server.arg("-c").arg(format!("{name}={value}"));
        }
        let process = server.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        Ok(Self { process, programs, folder })
    }

    pub(crate) fn connect(&self) -> Result<Client> {
        let started = Instant::now();
        let mut config = Config::new();
        config.host_path(self.folder.path()).user(USER).dbname(USER);
        loop {
            match config.connect(NoTls) {
                Ok(client) => return Ok(client),
                Err(error) if started.elapsed() > START_TIMEOUT => {
                    return Err(error).context("the server does not listen");
                }
                Err(_) => std::thread::sleep(Duration::from_millis(100)),
            }
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let data = self.folder.path().join("data");
        let stopped = self
            .programs
            .command("pg_ctl", self.folder.path())
            .args(["stop", "--mode=immediate", "--silent", "--pgdata"])
            .arg(data)
            .status();
        if !stopped.is_ok_and(|status| status.success()) {
            let _ = self.process.kill();
        }
        let _ = self.process.wait();
    }
}

impl Programs {
    fn command(&self, program: &str, folder: &Path) -> Command {
        let program = self.folder.join(program);
        let mut command = Command::new("setpriv");
        match self.run_as {
            None => command = Command::new(program),
            Some((user, group)) => {
                command.arg(format!("--reuid={user}")).arg(format!("--regid={group}"));
                command.arg("--clear-groups").arg("--").arg(program);
            }
        }
        command.current_dir(folder);
        command
    }
}

/// The folder of the newest installed version.
fn newest() -> Option<PathBuf> {
    let version = |name: OsString| name.to_str()?.parse::<u32>().ok();
    let versions = Path::new(PACKAGES).read_dir().ok()?;
    let programs = |version: u32| Path::new(PACKAGES).join(version.to_string()).join("bin");
    versions
        .filter_map(|entry| version(entry.ok()?.file_name()))
        .filter(|version| programs(*version).join("postgres").exists())
        .max()
        .map(programs)
}

/// The numbers of the user and the group to use instead of root.
fn unprivileged() -> Result<(u32, u32)> {
    let users = std::fs::read_to_string("/etc/passwd")?;
    for name in [USER, "nobody"] {
        for user in users.lines() {
            let fields: Vec<&str> = user.split(':').collect();
            if let [found, _, user, group, ..] = fields[..]
                && found == name
            {
                return Ok((user.parse()?, group.parse()?));
            }
        }
    }
    bail!("PostgreSQL does not run as root, and there is neither {USER} nor nobody")
}

fn settings() -> Result<Vec<(&'static str, String)>> {
    let memory = std::fs::read_to_string("/proc/meminfo")?;
    let total = memory.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    let total = total.context("no MemTotal")?.trim().trim_end_matches(" kB");
    let megabytes = total.parse::<u64>()? / 1024;
    let fixed = [
        ("listen_addresses", ""),
        ("work_mem", "256MB"),
        ("maintenance_work_mem", "1GB"),
        ("fsync", "off"),
        ("synchronous_commit", "off"),
        ("full_page_writes", "off"),
        ("wal_level", "minimal"),
        ("max_wal_senders", "0"),
        ("max_wal_size", "16GB"),
        ("checkpoint_timeout", "1h"),
        ("autovacuum", "off"),
        ("random_page_cost", "1.1"),
        ("jit", "off"),
    ];
    let by_memory = [
        ("shared_buffers", format!("{}MB", megabytes / 4)),
        ("effective_cache_size", format!("{}MB", megabytes / 2)),
    ];
    Ok(fixed.map(|(name, value)| (name, value.to_owned())).into_iter().chain(by_memory).collect())
}
