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

/// The name of a small company: a word of the vocabulary, what it does and its
/// `legal_form`.
pub(super) fn company(legal_form: &str, random: &mut Random) -> String {
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
pub(super) fn coined(random: &mut Random) -> String {
    [random.pick_by_rank(&ROOTS), random.pick_by_rank(&ENDINGS)].concat()
}

/// One of the words that say what a company does.
pub(super) fn trade(random: &mut Random) -> &'static str {
    random.pick_by_rank(&TRADES)
}

/// The name with a suffix in place of what would make it too long: the class of a
/// share stays readable.
pub(super) fn with_suffix(name: &str, suffix: &str) -> String {
    cut_to(name, NAME_CHARS_MAX - suffix.len()).to_owned() + suffix
}

/// Cuts a name to its greatest length.
pub(super) fn cut(name: String) -> String {
    cut_to(&name, NAME_CHARS_MAX).to_owned()
}

/// Cuts a name to that many characters.
pub(super) fn cut_to(name: &str, chars_max: usize) -> &str {
    let end = name.char_indices().nth(chars_max).map_or(name.len(), |(end, _)| end);
    name[..end].trim_end_matches(' ')
}

/// The letters of a number, the lowest place first.
pub(super) fn letters(mut number: u64, count: usize) -> String {
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
    fn names_are_upper_case_short_and_whole_characters() {
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
    fn a_suffix_takes_the_place_of_the_end() {
        let name = with_suffix("ÅNORMALLY LONG NAME OF A COMPANY", "-CL B");
        assert_eq!(name, "ÅNORMALLY LONG NAME OF-CL B");
    }
}
