//! Rates in the notation of operators: `25/60s`.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// The longest window, in seconds. A limit over more than a day is a quota, which would have to
/// survive a restart; windows do not.
const WINDOW_SECONDS_MAX: u64 = 24 * 60 * 60;

/// A maximum number of requests, or of jobs, in a window of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// The maximum number; at least 1.
    pub(super) count: u32,
    /// The length of the window, in seconds.
    pub(super) seconds: u64,
}

impl Rate {
    /// A maximum of `count` in a window of that many seconds.
    ///
    /// # Panics
    /// When one of them is zero.
    pub const fn new(count: u32, seconds: u64) -> Self {
        assert!(count > 0 && seconds > 0);
        Self { count, seconds }
    }

    pub(super) fn window(self) -> Duration {
        Duration::from_secs(self.seconds)
    }
}

impl FromStr for Rate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parse = || {
            let (count, window) = text.split_once('/')?;
            let (number, unit) = window.split_at_checked(window.len().checked_sub(1)?)?;
            let unit = match unit {
                "s" => 1,
                "m" => 60,
                "h" => 60 * 60,
                _ => return None,
            };
            let count = count.parse().ok().filter(|count| *count > 0)?;
            let seconds = number.parse::<u64>().ok()?.checked_mul(unit)?;
            (1..=WINDOW_SECONDS_MAX).contains(&seconds).then_some(Self { count, seconds })
        };
        parse().ok_or_else(|| {
            format!(
                "invalid rate `{text}`: expected a number and a window, such as `25/60s`, \
                 `500/1m` or `10000/24h` (at most 24h)"
            )
        })
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}s", self.count, self.seconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_parsed_and_printed() {
        for (text, rate) in [
            ("25/60s", Rate::new(25, 60)),
            ("25/6s", Rate::new(25, 6)),
            ("500/2m", Rate::new(500, 120)),
            ("1/24h", Rate::new(1, 86_400)),
        ] {
            assert_eq!(text.parse(), Ok(rate));
            assert_eq!(rate.to_string().parse(), Ok(rate));
        }
        for text in [
            "",
            "25",
            "25/",
            "/60s",
            "25/60",
            "25/s",
            "0/60s",
            "25/0s",
            "-1/60s",
            "25/60d",
            "25/25h",
            "25/60µ",
            "99999999999/1s",
            "1/99999999999999999999s",
        ] {
            let fault = text.parse::<Rate>().unwrap_err();
            assert!(fault.starts_with(&format!("invalid rate `{text}`: ")), "{fault}");
        }
    }
}
