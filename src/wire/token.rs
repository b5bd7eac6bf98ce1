//! The token of the data that a caller has (contract 19.2, 23.7).

use std::fmt;
use std::str::FromStr;

use figdex_index::{GenerationId, Visible};

/// A generation, and the idTypes that the caller may see. As text, the id of the generation: 32
/// hexadecimal digits. If some idTypes are hidden, `-` and seven digits follow, a bit for each of
/// them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) generation: GenerationId,
    pub(crate) visible: Visible,
}

/// The digits after `-`: four idTypes each.
const DIGITS: usize = 7;

/// The text is not a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it is not a token: 32 hexadecimal digits in lower case are expected")]
pub(crate) struct TokenError;

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { generation, visible } = self;
        generation.fmt(f)?;
        match visible.is_all() {
            true => Ok(()),
            false => write!(f, "-{:0DIGITS$x}", visible.to_bits()),
        }
    }
}

impl FromStr for Token {
    type Err = TokenError;

    fn from_str(text: &str) -> Result<Self, TokenError> {
        let (generation, hidden) = match text.split_once('-') {
            Some((generation, hidden)) => (generation, Some(hidden)),
            None => (text, None),
        };
        let generation = generation.parse().map_err(|_| TokenError)?;
        let visible = match hidden {
            None => Visible::ALL,
            Some(digits) => {
                let bits = u32::from_str_radix(digits, 16).map_err(|_| TokenError)?;
                let visible = Visible::from_bits(bits).ok_or(TokenError)?;
                // A set has one text.
                let is_its_text = !visible.is_all() && format!("{bits:0DIGITS$x}") == digits;
                is_its_text.then_some(visible).ok_or(TokenError)?
            }
        };
        Ok(Self { generation, visible })
    }
}

#[cfg(test)]
mod tests {
    use figdex_index::IdType;

    use super::*;

    /// contract 19.2, 23.7: a token without a class is the id of its generation, and each class has
    /// one text.
    #[test]
    fn a_token_has_one_text() {
        let generation = GenerationId::random();
        for visible in [
            Visible::ALL,
            Visible::without(|_| true),
            Visible::without(|class| class == IdType::Cusip),
            Visible::without(|class| class == IdType::Trace),
        ] {
            let token = Token { generation, visible };
            let text = token.to_string();
            assert_eq!(text.parse(), Ok(token), "{text}");
            assert_eq!(visible.is_all(), text == generation.to_string());
            let odd =
                [text.to_uppercase(), format!("{text}-"), format!("{text}0"), text[1..].into()];
            for odd in odd.into_iter().filter(|odd| *odd != text) {
                assert_eq!(odd.parse::<Token>(), Err(TokenError), "{odd}");
            }
        }
        for hidden in ["0000000", "4000000", "+000001", "0004000"] {
            let text = format!("{generation}-{hidden}");
            assert_eq!(text.parse::<Token>(), Err(TokenError), "{text}");
        }
    }
}
