//! Names of companies, with realistic word frequencies: some words are in one name of ten, most in
//! few names.
//!
//! Each large issuer has its own coined word (see `issuer.rs`). The other companies share a
//! vocabulary of about 1,500 words. Words are drawn by Zipf's law, so that a search for a word may
//! find few or many rows. As in real dumps, names are upper case and cut to 28 characters, even
//! within a word.

use super::rng::Random;

/// The longest name, in characters.
const NAME_CHARS_MAX: usize = 28;

/// First halves of the words, the most frequent first.
const ROOTS: [&str; 64] = [
    "AMER", "NOR", "SUN", "GLOB", "EURO", "PAC", "CAN", "TECH", "BIO", "MED", "GOLD", "HAN",
    "SHAN", "NIP", "WEST", "CENT", "UNI", "INTER", "TRANS", "FIRST", "SOUTH", "ALP", "BEL", "CAL",
    "DAN", "ELEC", "FIN", "GEN", "HEL", "IND", "KAN", "LUM", "MAR", "NEO", "OMN", "PRO", "QUAN",
    "REN", "SIL", "TER", "ULT", "VAN", "WIN", "XEN", "YAM", "ZEN", "ARC", "BOR", "COR", "DEL",
    "ECO", "FOR", "GRAN", "HYD", "KOR", "LIN", "MON", "NAV", "ORI", "PEN", "RAD", "SOL", "TAI",
    "VER",
];

/// Second halves of the words, the most frequent first.
const ENDINGS: [&str; 24] = [
    "ICA", "ON", "EX", "IA", "US", "AR", "IS", "TEK", "UM", "OR", "ALIS", "ENT", "INO", "ERA",
    "IX", "ATO", "OVA", "ELL", "IGEN", "ADA", "ESSA", "YNE", "OLIA", "UNA",
];

/// The trades of companies, the most frequent first.
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

/// Words before the coined word of a company.
const PLACES: [&str; 16] = [
    "CHINA", "NEW", "FIRST", "SHANGHAI", "JAPAN", "ROYAL", "BEIJING", "PACIFIC", "UNITED", "NORTH",
    "GREAT", "KOREA", "LONDON", "NATIONAL", "CANADIAN", "SWISS",
];

/// Words with accents and in other scripts, which the folding of texts must handle.
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

/// The name of a small company: a word of the vocabulary, usually with a trade, and the legal form.
/// A place may come first. A few names are foreign instead.
pub(crate) fn company(legal_form: &str, random: &mut Random) -> String {
    if random.one_in(300) {
        return cut(format!("{} {legal_form}", random.pick(&FOREIGN)));
    }
    let place = random.one_in(6).then(|| random.pick_by_rank(&PLACES));
    let coined = coined(random);
    let trade = (!random.one_in(8)).then(|| trade(random));
    let words = place.into_iter().chain([&*coined]).chain(trade).chain([legal_form]);
    cut(words.collect::<Vec<_>>().join(" "))
}

/// A word of the vocabulary.
pub(crate) fn coined(random: &mut Random) -> String {
    [random.pick_by_rank(&ROOTS), random.pick_by_rank(&ENDINGS)].concat()
}

/// A trade.
pub(crate) fn trade(random: &mut Random) -> &'static str {
    random.pick_by_rank(&TRADES)
}

/// The name with a suffix. The cut is before the suffix, so that the class of a share stays
/// readable.
pub(crate) fn with_suffix(name: &str, suffix: &str) -> String {
    cut_to(name, NAME_CHARS_MAX - suffix.len()).to_owned() + suffix
}

/// Cuts a name to at most [`NAME_CHARS_MAX`] characters.
pub(crate) fn cut(name: String) -> String {
    cut_to(&name, NAME_CHARS_MAX).to_owned()
}

/// Cuts a name to at most `chars_max` characters.
pub(crate) fn cut_to(name: &str, chars_max: usize) -> &str {
    let end = name.char_indices().nth(chars_max).map_or(name.len(), |(end, _)| end);
    name[..end].trim_end_matches(' ')
}

/// The last `count` places of the number in base 26, as letters, the lowest place first.
pub(crate) fn letters(mut number: u64, count: usize) -> String {
    let letter = || {
        let letter = b'A' + (number % 26) as u8;
        number /= 26;
        char::from(letter)
    };
    std::iter::repeat_with(letter).take(count).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_upper_case_and_short() {
        let mut random = Random::of(5, 0, 0);
        let mut words = std::collections::HashSet::new();
        for _ in 0..20_000 {
            let name = &company("CO.,LTD", &mut random);
            assert!((5..=NAME_CHARS_MAX).contains(&name.chars().count()), "{name}");
            assert_eq!(name.trim(), name);
            assert_eq!(name.to_uppercase(), *name);
            words.extend(name.split(' ').map(str::to_owned));
        }
        assert!(words.len() > 1_000, "{} words", words.len());
    }

    #[test]
    fn a_suffix_replaces_the_end() {
        let name = with_suffix("ÅNORMALLY LONG NAME OF A COMPANY", "-CL B");
        assert_eq!(name, "ÅNORMALLY LONG NAME OF-CL B");
    }
}
