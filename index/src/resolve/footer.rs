//! The words for "total" that a last row begins with (contract 17.16).

use super::trimmed::trimmed;
use crate::words::squeeze;

/// The words for "total", folded, without blanks and punctuation.
const WORDS: [&str; 36] = [
    "total",
    "totals",
    "grandtotal",
    "overalltotal",
    "subtotal",
    "portfoliototal",
    "totalportfolio",
    "accounttotal",
    "totalaccount",
    "sum",
    "summe",
    "summen",
    "gesamt",
    "gesamtsumme",
    "zwischensumme",
    "insgesamt",
    "totale",
    "totali",
    "totaux",
    "totalgeneral",
    "soustotal",
    "somme",
    "sommetotale",
    "totalegenerale",
    "totaalbedrag",
    "somma",
    "suma",
    "totaal",
    "итого",
    "всего",
    "razem",
    "合計",
    "総合計",
    "総計",
    "小計",
    "合计",
];

/// The words for "total" that end other words: `評価額合計`.
const SUFFIXES: [&str; 4] = ["合計", "総計", "小計", "合计"];

/// Whether the first cell of a last row says that the row is a total, as in `Total:` or
/// `TOTAL GÉNÉRAL`, and not an instrument. Letter case, accents, blanks and punctuation do not
/// count.
pub fn is_footer_word(text: &str) -> bool {
    let text = trimmed(text);
    // Longer than any of the words, also with blanks and punctuation.
    if text.len() > 64 {
        return false;
    }
    let word = squeeze(&text);
    WORDS.contains(&&*word) || SUFFIXES.iter().any(|suffix| word.ends_with(suffix))
}

/// Whether a text begins or ends with a word for "total", as in `Total Wertschriften` or
/// `ISA totals`. A company may begin so too: this does not tell them apart.
pub fn has_footer_word(text: &str) -> bool {
    let text = trimmed(text);
    let words: Vec<&str> = text.split_whitespace().collect();
    // The longest of the words for "total" has two words.
    (1..=2.min(words.len())).any(|count| {
        is_footer_word(&words[..count].join(" "))
            || is_footer_word(&words[words.len() - count..].join(" "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// contract 17.16.
    #[test]
    fn words_for_total() {
        for text in [
            "Total",
            "TOTAL",
            " total: ",
            "Grand total",
            "Subtotal",
            "Sub-Total",
            "Summe",
            "SUMME:",
            "Gesamt",
            "Gesamtsumme",
            "Totale",
            "Total général",
            "TOTAL GENERAL",
            "Sous-total",
            "Totaal",
            "合計",
            "合　計",
            "総合計",
            "小計",
            "\"Total\"",
            "Итого",
            "Ｔｏｔａｌ",
        ] {
            assert!(is_footer_word(text), "{text:?}");
        }
        for text in ["", "-", "TotalEnergies", "Total SE", "Total Return", "Summit", "US0378331005"]
        {
            assert!(!is_footer_word(text), "{text:?}");
        }
        assert!(is_footer_word("国内株式合計") && is_footer_word("評価額 合計："));
        for text in ["Total Wertschriften", "ISA totals", "Gesamt (EUR)", "Sous-total actions"] {
            assert!(has_footer_word(text) && !is_footer_word(text), "{text:?}");
        }
        for text in ["", "TotalEnergies SE", "Apple Inc", "The total of all"] {
            assert!(!has_footer_word(text), "{text:?}");
        }
        // Every word is as `squeeze` gives it, or it would never be found.
        for word in WORDS {
            assert_eq!(squeeze(word), word);
        }
    }
}
