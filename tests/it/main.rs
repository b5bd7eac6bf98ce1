//! The tests of both programs: a dump goes in at one end, HTTP bytes come out at the other. All of
//! them are one binary over the real server, the real index and the real command.
//!
//! | folder | what it tests |
//! |---|---|
//! | `api` | the contract and the other endpoints, a file for each chapter or endpoint |
//! | `abuse` | hostile clients, dumps and texts |
//! | `server` | the program `figdex`: settings, addresses, log, and changes while it runs |
//! | `command` | the program `figdex-ingest` |
//! | `cluster` | an index in a cluster, where `FIGDEX_OPENSEARCH` names one |
//! | `storage` | an index in object storage, with the feature `object-storage` |
//! | `golden` | answers that are compared with recorded files |
//! | `repository` | the README, the citations and the packaging |
//! | `support` | what the tests share: servers, clients, data |

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod abuse;
mod api;
mod cluster;
mod command;
mod golden;
mod repository;
mod server;
#[cfg(feature = "object-storage")]
mod storage;
mod support;
