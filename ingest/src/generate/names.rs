//! Names of companies: many words, some in every tenth name and most in few, as
//! in a real register.
//!
//! Large issuers carry a coined word of their own (see `issuer.rs`); the others
//! share a vocabulary of some 1,500 words, drawn by Zipf's law, so that a search
//! for one word finds few rows or many. Names are upper case and cut to 28
//! characters, in the middle of a word if need be, as real dumps have them.

use super::rng::Random;

/// The longest name, in characters.
const NAME_CHARS_MAX: usize = 28;

/// First halves of the vocabulary's words, frequent ones first.
const ROOTS: [&str; 64] = [
    "AMER", "NOR", "SUN", "GLOB", "EURO", "PAC", "CAN", "TECH", "BIO", "MED", "GOLD", "HAN",
    "SHAN", "NIP", "WEST", "CENT", "UNI", "INTER", "TRANS", "FIRST", "SOUTH", "ALP", "BEL", "CAL",
    "DAN", "ELEC", "FIN", "GEN", "HEL", "IND", "KAN", "LUM", "MAR", "NEO", "OMN", "PRO", "QUAN",
    "REN", "SIL", "TER", "ULT", "VAN", "WIN", "XEN", "YAM", "ZEN", "ARC", "BOR", "COR", "DEL",
    "ECO", "FOR", "GRAN", "HYD", "KOR", "LIN", "MON", "NAV", "ORI", "PEN", "RAD", "SOL", "TAI",
    "VER",
];

/// Second halves, frequent ones first.
const ENDINGS: [&str; 24] = [
    "ICA", "ON", "EX", "IA", "US", "AR", "IS", "TEK", "UM", "OR", "ALIS", "ENT", "INO", "ERA",
    "IX", "ATO", "OVA", "ELL", "IGEN", "ADA", "ESSA", "YNE", "OLIA", "UNA",
];

/// What companies do; frequent ones first.
const TRADES: [&str; 48] = [
    "GROUP",
    "HOLDINGS",
    "TECHNOLOGY",
    "ENERGY",
    "INTL",
    "RESOURCES",
    "INDUSTRIES",
    "BANK",
    "CAPITAL",
    "GOLD",
    "PHARMA",
    "FINANCIAL",
    "MINING",
    "SOLUTIONS",
    "ELECTRIC",
    "POWER",
    "SYSTEMS",
    "MEDICAL",
    "CHEMICAL",
    "REAL ESTATE",
    "INSURANCE",
    "MATERIALS",
    "STEEL",
    "OIL & GAS",
    "FOODS",
    "MOTOR",
    "SOFTWARE",
    "LOGISTICS",
    "THERAPEUTICS",
    "ENGINEERING",
    "MEDIA",
    "ELECTRONICS",
    "CONSTRUCTION",
    "SEMICONDUCTOR",
    "HEALTH",
    "PROPERTIES",
    "TEXTILE",
    "AIRLINES",
    "WATER",
    "TELECOM",
    "PAPER",
    "CEMENT",
    "SHIPPING",
    "BREWERIES",
    "HOTELS",
    "ROBOTICS",
    "AEROSPACE",
    "LITHIUM",
];

/// Words before the company's own.
const PLACES: [&str; 16] = [
    "CHINA", "NEW", "FIRST", "SHANGHAI", "JAPAN", "ROYAL", "BEIJING", "PACIFIC", "UNITED", "NORTH",
    "GREAT", "KOREA", "LONDON", "NATIONAL", "CANADIAN", "SWISS",
];

/// Words with accents and in other scripts, which folding has to cope with.
const FOREIGN: [&str; 16] = [
    "ÅKERSTRÖM",
    "SÃO MARTINHO",
    "CRÉDIT FONCIER",
    "GRÜNWALD",
    "ŁÓDŹ METAL",
    "TÜRKİYE ÇİMENTO",
    "ØRESUND",
    "ΕΛΛΗΝΙΚΗ ΤΡΑΠΕΖΑ",
    "СЕВЕРНЫЙ МЕТАЛЛ",
    "УРАЛЬСКИЙ БАНК",
    "東洋電機",
    "三光商事",
    "華南科技",
    "한빛전자",
    "ไทยพลังงาน",
    "בנק הצפון",
];

/// Appends the name of a small company: a word of the vocabulary, what it does
/// and its `legal_form`.
pub(super) fn push_company(text: &mut Vec<u8>, legal_form: &str, random: &mut Random) {
    let start = text.len();
    if random.one_in(300) {
        text.extend_from_slice(random.pick(&FOREIGN).as_bytes());
    } else {
        if random.one_in(6) {
            push_word(text, start, random.pick_by_rank(&PLACES));
        }
        push_word(text, start, random.pick_by_rank(&ROOTS));
        text.extend_from_slice(random.pick_by_rank(&ENDINGS).as_bytes());
        if !random.one_in(8) {
            push_word(text, start, random.pick_by_rank(&TRADES));
        }
    }
    push_word(text, start, legal_form);
    cut(text, start);
}

/// Appends a word of the vocabulary.
pub(super) fn push_coined(text: &mut Vec<u8>, random: &mut Random) {
    text.extend_from_slice(random.pick_by_rank(&ROOTS).as_bytes());
    text.extend_from_slice(random.pick_by_rank(&ENDINGS).as_bytes());
}

/// Appends one of the words that say what a company does.
pub(super) fn push_trade(text: &mut Vec<u8>, random: &mut Random) {
    text.extend_from_slice(random.pick_by_rank(&TRADES).as_bytes());
}

/// Appends `suffix` to the name that begins at `start`, in place of what would
/// make it too long: the class of a share stays readable.
pub(super) fn push_suffix(text: &mut Vec<u8>, start: usize, suffix: &str) {
    cut_to(text, start, NAME_CHARS_MAX - suffix.len());
    text.extend_from_slice(suffix.as_bytes());
}

/// Cuts the name that begins at `start` to its greatest length.
pub(super) fn cut(text: &mut Vec<u8>, start: usize) {
    cut_to(text, start, NAME_CHARS_MAX);
}

fn push_word(text: &mut Vec<u8>, start: usize, word: &str) {
    if text.len() > start {
        text.push(b' ');
    }
    text.extend_from_slice(word.as_bytes());
}

/// Cuts the name that begins at `start` to so many characters.
pub(super) fn cut_to(text: &mut Vec<u8>, start: usize, chars_max: usize) {
    let is_boundary = |byte: &u8| !matches!(byte, 0x80..=0xBF);
    let mut starts = (start..text.len()).filter(|&at| is_boundary(&text[at]));
    if let Some(end) = starts.nth(chars_max) {
        text.truncate(end);
    }
    while text.len() > start && text.last() == Some(&b' ') {
        text.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_upper_case_short_and_whole_characters() {
        let mut random = Random::of(5, 0, 0);
        let mut words = std::collections::HashSet::new();
        for _ in 0..20_000 {
            let mut text = b"before".to_vec();
            push_company(&mut text, "CO.,LTD", &mut random);
            let name = str::from_utf8(&text[6..]).unwrap();
            assert!((5..=NAME_CHARS_MAX).contains(&name.chars().count()), "{name}");
            assert_eq!(name.trim(), name);
            assert_eq!(name.to_uppercase(), name);
            words.extend(name.split(' ').map(str::to_owned));
        }
        assert!(words.len() > 1_000, "{} words", words.len());
    }

    #[test]
    fn a_suffix_takes_the_place_of_the_end() {
        let mut text = "ÅNORMALLY LONG NAME OF A COMPANY".as_bytes().to_vec();
        push_suffix(&mut text, 0, "-CL B");
        assert_eq!(str::from_utf8(&text).unwrap(), "ÅNORMALLY LONG NAME OF-CL B");
    }
}
