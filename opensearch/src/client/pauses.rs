//! The pauses between attempts while a cluster has no room for more work.

use std::time::Duration;

/// Pauses that grow, with a bound on their number.
#[derive(Clone, Debug)]
pub struct Pauses {
    next: Duration,
    left: u32,
}

const FIRST: Duration = Duration::from_millis(200);
const LONGEST: Duration = Duration::from_secs(20);

impl Pauses {
    /// At most `number` pauses. Their lengths double from 0.2 to 20 seconds. Each pause is
    /// shortened by a random part, at most half of it.
    pub fn new(number: u32) -> Self {
        Self { next: FIRST, left: number }
    }

    /// Waits for the next pause. Returns `false` if no pause is left: it is time to give up.
    pub async fn wait(&mut self) -> bool {
        if self.left == 0 {
            return false;
        }
        self.left -= 1;
        // If several callers wait for the same thing, they should not all return at once.
        let half = self.next / 2;
        tokio::time::sleep(half + half.mul_f64(random_share())).await;
        self.next = (self.next * 2).min(LONGEST);
        true
    }
}

/// A random number from 0 to 1; 1 when the system has none.
fn random_share() -> f64 {
    let mut bytes = [0xff; 2];
    match getrandom::fill(&mut bytes) {
        Ok(()) => f64::from(u16::from_le_bytes(bytes)) / f64::from(u16::MAX),
        Err(_) => 1.0,
    }
}
