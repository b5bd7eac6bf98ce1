//! Calls of commands, which wait for a cluster. A server does not wait: its client asks again.

use crate::client::Pauses;
use crate::error::Result;

/// The pauses before a call is given up: about four minutes.
const PAUSES: u32 = 16;

/// Makes a call, again after pauses while the cluster cannot answer.
pub(crate) async fn patiently<T>(mut call: impl AsyncFnMut() -> Result<T>) -> Result<T> {
    let mut pauses = Pauses::new(PAUSES);
    loop {
        match call().await {
            Err(error) if error.is_temporary() && pauses.wait().await => {}
            ended => return ended,
        }
    }
}
