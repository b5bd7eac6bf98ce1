//! The common name of a company: its name without the legal form, the class of the share and
//! other endings that people do not type.

use super::{squeeze, words};

/// Squeezed abbreviations that may be left out at the end of a name, such as legal forms.
const ABBREVIATIONS: &[&str] = &[
    "ab", "ag", "ao", "as", "asa", "berhad", "bhd", "bv", "co", "corp", "cos", "cv", "gmbh", "grp",
    "hldg", "hldgs", "inc", "inh", "jsc", "kg", "kgaa", "kk", "llc", "llp", "lp", "ltd", "na",
    "nam", "nv", "oao", "ojsc", "on", "ooo", "ord", "oy", "oyj", "pao", "pcl", "pjsc", "plc", "pt",
    "reg", "sa", "sab", "sae", "sarl", "se", "shs", "spa", "srl", "tbk", "оао", "пао", "ао",
];

/// Squeezed whole words that may be left out at the end of a name.
const WORDS: &[&str] = &[
    "aktiengesellschaft",
    "companies",
    "company",
    "corporation",
    "group",
    "holding",
    "holdings",
    "incorporated",
    "limited",
    "registered",
    "the",
];

/// The words before the letter of a share class.
const CLASS: &[&str] = &["cl", "class", "ser", "series"];

/// The common name of a company, squeezed. At least one piece of the name is left.
pub(crate) fn common_name(name: &str) -> String {
    let mut pieces: Vec<Vec<String>> =
        words(name).map(|word| word.pieces().map(str::to_owned).collect()).collect();
    if pieces.len() > 1 && pieces[0] == ["the"] {
        pieces.remove(0);
    }
    let is_out = |text: &str| ABBREVIATIONS.contains(&text) || WORDS.contains(&text);
    while pieces.len() > 1 || pieces.first().is_some_and(|first| first.len() > 1) {
        let count = pieces.len();
        let last = &pieces[count - 1];
        if is_out(&last.concat()) && count > 1 {
            pieces.pop();
        } else if last.len() > 1 && (is_out(&last[last.len() - 1]) || last[last.len() - 1] == "com")
        {
            pieces[count - 1].pop();
        } else if count > 1 && last.len() == 1 && last[0].chars().count() == 1 {
            let before = &mut pieces[count - 2];
            let is_class = before.last().is_some_and(|piece| CLASS.contains(&&**piece));
            if !is_class || (before.len() == 1 && count == 2) {
                break;
            }
            before.pop();
            let is_empty = before.is_empty();
            pieces.pop();
            if is_empty {
                pieces.pop();
            }
        } else {
            break;
        }
    }
    let common: String = pieces.concat().concat();
    if common.is_empty() { squeeze(name) } else { common }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn endings_that_people_do_not_type_are_left_out() {
        for (name, expected) in [
            ("APPLE INC", "apple"),
            ("Apple Inc.", "apple"),
            ("The Boeing Company", "boeing"),
            ("ALPHABET INC-CL A", "alphabet"),
            ("BERKSHIRE HATHAWAY INC-CL B", "berkshirehathaway"),
            ("Meta Platforms, Inc. Class A", "metaplatforms"),
            ("AMAZON.COM INC", "amazon"),
            ("DEUTSCHE BANK AG NA O.N.", "deutschebank"),
            ("Deutsche Bank Aktiengesellschaft", "deutschebank"),
            ("JPMORGAN CHASE & CO", "jpmorganchase"),
            ("Eni S.p.A.", "eni"),
            ("AT&T INC", "att"),
            ("HSBC Holdings plc", "hsbc"),
            ("TOYOTA MOTOR CORP-SPON ADR", "toyotamotorcorpsponadr"),
            ("Company", "company"),
            ("The Company", "company"),
            ("Class A", "classa"),
            ("-", ""),
        ] {
            assert_eq!(common_name(name), expected, "{name}");
        }
    }

    proptest! {
        #[test]
        fn any_name_has_a_common_name(name in any::<String>()) {
            prop_assert_eq!(common_name(&name).is_empty(), squeeze(&name).is_empty());
        }
    }
}
