//! The address of an index: a folder, a cluster that holds it, or the object storage in which its
//! generations are published. Both programs accept the same addresses and report the same errors
//! for invalid ones.

use std::ffi::OsString;
use std::fmt;
use std::net::Ipv6Addr;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::printable::{begins_with_user, escaped, masked};

/// The address of an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A folder of this machine, such as `data/mine`.
    Folder(PathBuf),
    /// An OpenSearch cluster, such as `opensearch+https://host:9200/instruments`.
    Cluster(ClusterAddress),
    /// Published generations in object storage, such as `s3://bucket/figdex`. Servers copy them.
    Storage(StorageAddress),
}

/// An index whose generations are published in object storage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StorageAddress {
    /// The storage.
    pub storage: Storage,
    /// The parts of the path with which the name of every file of the index begins. May be empty in
    /// a bucket.
    pub prefix: Vec<String>,
}

/// A kind of object storage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Storage {
    /// A bucket of S3, or of a storage with the same interface.
    S3 {
        /// The name of the bucket.
        bucket: String,
    },
    /// A folder that all machines mount. [`StorageAddress::prefix`] has the parts of its path.
    Folder,
}

/// An index in an OpenSearch cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterAddress {
    /// Whether the hosts are asked over TLS.
    pub is_tls: bool,
    /// The hosts that may be asked, at least one.
    pub hosts: Vec<ClusterHost>,
    /// The name of the index, which is an alias in the cluster.
    pub name: String,
}

/// A host of a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterHost {
    /// A name, an IPv4 address, or an IPv6 address in brackets.
    pub name: String,
    /// Its port.
    pub port: u16,
}

/// The port of a host for which the address gives none.
const CLUSTER_PORT: u16 = 9200;

/// The most bytes of an index name in a cluster. OpenSearch allows 255; the rest is for the number
/// of a generation.
const NAME_BYTES_MAX: usize = 200;

/// The most bytes of the path of an address in object storage. The name of an object in S3 has at
/// most 1,024.
const PREFIX_BYTES_MAX: usize = 500;

/// The most hosts of an address.
const HOSTS_MAX: usize = 100;

/// The most bytes of the name of a host (RFC 1035).
const HOST_BYTES_MAX: usize = 253;

const CLUSTER: &str = "opensearch+http://";
const CLUSTER_TLS: &str = "opensearch+https://";
const S3: &str = "s3://";
const FILE: &str = "file://";

/// A text that is not an address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{}` is not the address of an index: {fault}. Expected a folder, such as data/mine, an index \
     in a cluster, such as opensearch+https://host:9200/name, or a place in object storage, such as \
     s3://bucket/figdex or file:///shared/figdex",
    escaped(.text)
)]
pub struct AddressError {
    text: String,
    fault: &'static str,
}

impl Address {
    /// The folder; `None` when the index is elsewhere.
    pub fn folder(&self) -> Option<&Path> {
        match self {
            Self::Folder(folder) => Some(folder),
            Self::Cluster(_) | Self::Storage(_) => None,
        }
    }
}

impl TryFrom<OsString> for Address {
    type Error = AddressError;

    /// Parses an address. A text that is not UTF-8 is a folder, since all other addresses are
    /// ASCII.
    fn try_from(text: OsString) -> Result<Self, AddressError> {
        match text.into_string() {
            Ok(text) => text.parse(),
            Err(text) => Ok(Self::Folder(text.into())),
        }
    }
}

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        let refused = |fault| AddressError { text: masked(text).into_owned(), fault };
        if text.is_empty() {
            return Err(refused("it is empty"));
        }
        let cluster = [(CLUSTER, false), (CLUSTER_TLS, true)];
        for (scheme, is_tls) in cluster {
            if let Some(rest) = text.strip_prefix(scheme) {
                return ClusterAddress::parse(rest, is_tls).map(Self::Cluster).map_err(refused);
            }
        }
        if let Some(rest) = text.strip_prefix(S3) {
            return StorageAddress::in_bucket(rest).map(Self::Storage).map_err(refused);
        }
        if let Some(rest) = text.strip_prefix(FILE) {
            return StorageAddress::in_folder(rest).map(Self::Storage).map_err(refused);
        }
        match text.split_once("://") {
            Some((scheme, _)) if is_scheme(scheme) => {
                Err(refused("there is no such kind of address (a folder may begin with ./)"))
            }
            None if has_one_slash(text) => {
                Err(refused("an address has :// (a folder may begin with ./)"))
            }
            None if begins_with_user(text) => {
                Err(refused("it must not hold a user or a password (a folder may begin with ./)"))
            }
            _ => Ok(Self::Folder(text.into())),
        }
    }
}

impl ClusterAddress {
    /// Parses the rest of the address, after the scheme.
    fn parse(rest: &str, is_tls: bool) -> Result<Self, &'static str> {
        if rest.contains(['?', '#']) {
            return Err("it ends with the name of the index, without ? and #");
        }
        let (hosts, name) = rest.split_once('/').ok_or("it does not name the index")?;
        if hosts.contains('@') {
            return Err("it must not hold a user or a password: put them into a file");
        }
        let hosts: Vec<_> = hosts.split(',').map(str::parse).collect::<Result<_, _>>()?;
        if hosts.len() > HOSTS_MAX {
            return Err("it has more than 100 hosts");
        }
        let name = name.strip_suffix('/').unwrap_or(name);
        check_name(name)?;
        Ok(Self { is_tls, hosts, name: name.to_owned() })
    }
}

impl StorageAddress {
    /// The folder that all machines mount; `None` for another kind of storage.
    pub fn folder(&self) -> Option<PathBuf> {
        match self.storage {
            Storage::S3 { .. } => None,
            Storage::Folder => Some(Path::new("/").join(self.prefix.join("/"))),
        }
    }

    fn in_bucket(rest: &str) -> Result<Self, &'static str> {
        if rest.contains('@') {
            return Err("it must not hold a user or a password: put them into a file");
        }
        let (bucket, path) = rest.split_once('/').unwrap_or((rest, ""));
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-.".contains(c);
        if !(3..=63).contains(&bucket.len())
            || !bucket.chars().all(is_plain)
            || bucket.starts_with(['-', '.'])
            || bucket.ends_with(['-', '.'])
        {
            return Err(
                "the name of a bucket has 3 to 63 small letters, digits, - and . and begins and \
                 ends with a letter or a digit",
            );
        }
        Ok(Self { storage: Storage::S3 { bucket: bucket.to_owned() }, prefix: prefix(path)? })
    }

    fn in_folder(rest: &str) -> Result<Self, &'static str> {
        let Some(path) = rest.strip_prefix('/') else {
            return Err("after file:// comes the whole path of a folder, which begins with /");
        };
        let prefix = prefix(path)?;
        if prefix.is_empty() {
            return Err("it names no folder");
        }
        Ok(Self { storage: Storage::Folder, prefix })
    }
}

/// The parts of a path in object storage.
fn prefix(path: &str) -> Result<Vec<String>, &'static str> {
    let path = path.strip_suffix('/').unwrap_or(path);
    if path.is_empty() {
        return Ok(Vec::new());
    }
    if path.len() > PREFIX_BYTES_MAX {
        return Err("its path has more than 500 characters");
    }
    let is_plain = |part: &str| {
        let mut chars = part.chars();
        !matches!(part, "" | "." | "..")
            && chars.all(|c| c.is_ascii_alphanumeric() || "-_.=+".contains(c))
    };
    if !path.split('/').all(is_plain) {
        return Err("the parts of its path have letters, digits, -, _, ., = and +");
    }
    Ok(path.split('/').map(str::to_owned).collect())
}

impl FromStr for ClusterHost {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, &'static str> {
        let (name, port) = match text.rsplit_once(':') {
            Some((name, port)) if !port.ends_with(']') => (name, Some(port)),
            _ => (text, None),
        };
        let is_ipv6 = name
            .strip_prefix('[')
            .and_then(|name| name.strip_suffix(']'))
            .is_some_and(|name| name.parse::<Ipv6Addr>().is_ok());
        let is_name = !name.is_empty()
            && name.len() <= HOST_BYTES_MAX
            && name.chars().all(|c| c.is_ascii_alphanumeric() || "-._".contains(c));
        if !is_name && !is_ipv6 {
            return Err("a host is a name or an IP address (IPv6 in brackets), and a port");
        }
        let port = match port {
            None => CLUSTER_PORT,
            Some(port) => port
                .parse()
                .ok()
                .filter(|number| *number > 0 && port.starts_with(|c: char| c.is_ascii_digit()))
                .ok_or("a port is a number from 1 to 65535")?,
        };
        Ok(Self { name: name.to_owned(), port })
    }
}

/// Checks the name of an index in a cluster. The cluster would refuse some of the names that fail
/// here. A name that ends with `-` and a number could be confused with a generation of another
/// index.
fn check_name(name: &str) -> Result<(), &'static str> {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_.".contains(c);
    if !name.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit())
        || !name.chars().all(is_plain)
    {
        return Err(
            "the name of an index has small letters, digits, -, _ and . and begins with a \
                    letter or a digit",
        );
    }
    if name.len() > NAME_BYTES_MAX {
        return Err("the name of an index has at most 200 characters");
    }
    let is_number = |end: &str| !end.is_empty() && end.bytes().all(|byte| byte.is_ascii_digit());
    if name.rsplit_once('-').is_some_and(|(_, end)| is_number(end)) {
        return Err("the name of an index must not end with - and a number, as generations do");
    }
    Ok(())
}

/// Whether a text before `://` is a scheme (RFC 3986, 3.1).
fn is_scheme(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
}

/// Whether a text is an address with one slash missing. No usual folder name looks like that.
fn has_one_slash(text: &str) -> bool {
    text.split_once(":/").is_some_and(|(scheme, _)| scheme.len() > 1 && is_scheme(scheme))
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(folder) => folder.display().fmt(f),
            Self::Cluster(cluster) => cluster.fmt(f),
            Self::Storage(storage) => storage.fmt(f),
        }
    }
}

impl fmt::Display for ClusterAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_tls { CLUSTER_TLS } else { CLUSTER })?;
        for (place, host) in self.hosts.iter().enumerate() {
            write!(f, "{}{host}", if place == 0 { "" } else { "," })?;
        }
        write!(f, "/{}", self.name)
    }
}

impl fmt::Display for StorageAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.storage {
            Storage::S3 { bucket } => write!(f, "{S3}{bucket}")?,
            Storage::Folder => f.write_str(FILE)?,
        }
        self.prefix.iter().try_for_each(|part| write!(f, "/{part}"))
    }
}

impl fmt::Display for ClusterHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.name, self.port)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        for folder in ["data/mine", "/var/lib/figdex/index", "./s3://x", "a:b", "C:/x", "ü"] {
            let address: Address = folder.parse().unwrap();
            assert_eq!(address, Address::Folder(folder.into()));
            assert_eq!(address.to_string(), folder);
        }
        for (text, canonical) in [
            ("opensearch+http://a/x", "opensearch+http://a:9200/x"),
            (
                "opensearch+https://a:1,b,[::1]:2,[::1]/x-y.z_1/",
                "opensearch+https://a:1,b:9200,[::1]:2,[::1]:9200/x-y.z_1",
            ),
            ("s3://abc", "s3://abc"),
            ("s3://abc/", "s3://abc"),
            ("s3://my.bucket-1/a/b_c=d/", "s3://my.bucket-1/a/b_c=d"),
            ("file:///shared/figdex/", "file:///shared/figdex"),
        ] {
            let address: Address = text.parse().unwrap();
            assert_eq!(address.to_string(), canonical);
            assert_eq!(canonical.parse(), Ok(address));
        }
    }

    #[test]
    fn faults() {
        for (text, fault) in [
            ("", "empty"),
            ("gopher://x/y", "no such kind"),
            ("https://a:9200/x", "no such kind"),
            ("opensearch+http://a", "does not name"),
            ("opensearch+http:///x", "a host is"),
            ("opensearch+http://a,,b/x", "a host is"),
            ("opensearch+http://a b/x", "a host is"),
            ("opensearch+http://[::g]/x", "a host is"),
            ("opensearch+http://a:/x", "a port is"),
            ("opensearch+http://a:0/x", "a port is"),
            ("opensearch+http://a:+1/x", "a port is"),
            ("opensearch+http://a:70000/x", "a port is"),
            ("opensearch+http://a/", "small letters"),
            ("opensearch+http://a/X", "small letters"),
            ("opensearch+http://a/-x", "small letters"),
            ("opensearch+http://a/x/y", "small letters"),
            ("opensearch+http://a/x?y", "without ?"),
            ("opensearch+http://a/x-000007", "as generations do"),
            ("s3://", "name of a bucket"),
            ("s3://ab", "name of a bucket"),
            ("s3://-abc/x", "name of a bucket"),
            ("s3://Abc/x", "name of a bucket"),
            ("s3://abc//x", "parts of its path"),
            ("s3://abc/../x", "parts of its path"),
            ("s3://abc/x y", "parts of its path"),
            ("s3://abc/x?y", "parts of its path"),
            ("file://shared/x", "whole path"),
            ("file:///", "no folder"),
            ("gs://abc/x", "no such kind"),
            ("opensearch+http:/a/x", "has ://"),
        ] {
            let error = text.parse::<Address>().unwrap_err().to_string();
            assert!(error.contains(fault) && error.contains("data/mine"), "{text}: {error}");
        }
        let long = format!("opensearch+http://a/{}", "x".repeat(201));
        assert!(long.parse::<Address>().unwrap_err().to_string().contains("at most 200"));
        let hosts = format!("opensearch+http://{}/x", ["a"; 101].join(","));
        assert!(hosts.parse::<Address>().unwrap_err().to_string().contains("more than 100"));
    }

    #[test]
    fn a_password_is_not_repeated() {
        for address in ["opensearch+https://me:secret@a/x", "s3://me:secret@bucket/x"] {
            let error = address.parse::<Address>().unwrap_err().to_string();
            assert!(!error.contains("secret") && error.contains("put them into a file"), "{error}");
        }
        for address in [
            "opensearch+https://me:s/secret@a/x",
            "opensearch+https:/me:secret@a/x",
            "opensearch+htps://me:secret@a/x",
            "me:secret@a:9200/x",
            "file://me:secret@a/x",
        ] {
            let error = address.parse::<Address>().unwrap_err();
            assert!(!format!("{error} {error:?}").contains("secret"), "{error}");
        }
    }
}
