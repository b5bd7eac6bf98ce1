//! How the names of securities are cut: vendors have 28 or 30 characters for a name, and
//! everyone cuts the same words in the same few ways. A group holds the word and its cut
//! forms; any of them stands for any other.

/// Folded words, each in one group only.
const GROUPS: &[&[&str]] = &[
    &["acquisition", "acquisitions", "acq", "acqu", "acquis"],
    &["administration", "admin"],
    &["advanced", "adv", "advd"],
    &["aerospace", "aero"],
    &["agriculture", "agricultural", "agri", "agric"],
    &["airlines", "airways", "airl", "airln"],
    &["aktiengesellschaft", "ag"],
    &["america", "amer"],
    &["american", "amern", "am"],
    &["associates", "association", "assoc", "assn"],
    &["assurance", "assur", "assce"],
    &["automotive", "auto", "autom", "automobile"],
    &["banco", "bco"],
    &["bancorp", "bancorporation", "bcp", "banc"],
    &["bancshares", "bancshs", "bcshs"],
    &["bank", "bk", "bnk"],
    &["biotechnology", "biotech"],
    &["brothers", "bros"],
    &["building", "bldg"],
    &["business", "bus"],
    &["capital", "cap", "cptl"],
    &["centre", "center", "ctr", "cntr"],
    &["chemical", "chemicals", "chem", "chems"],
    &["china", "chn"],
    &["class", "cl"],
    &["commercial", "coml", "comm", "comml"],
    &["communications", "communication", "commun", "comms"],
    &["community", "cmnty"],
    &["company", "co", "companies", "cos"],
    &["computer", "comp", "comput"],
    &["construction", "const", "constr", "constrn"],
    &["consumer", "cons", "consmr"],
    &["corporation", "corp", "corpn"],
    &["department", "dept"],
    &["development", "dev", "devel", "developments"],
    &["distribution", "distr", "dist"],
    &["diversified", "divers", "divsfd"],
    &["dividend", "div", "dvd"],
    &["education", "educ", "educational"],
    &["electric", "elec", "el", "electrical"],
    &["electronics", "electronic", "electr", "electron", "eltn"],
    &["emerging", "emrg", "emerg", "em"],
    &["energy", "enrgy", "engy"],
    &["engineering", "eng", "engr", "engrg"],
    &["enterprises", "enterprise", "ent", "entpr", "entps"],
    &["entertainment", "entmt", "entertain"],
    &["environmental", "env", "envir"],
    &["equipment", "equip", "eqpt"],
    &["equity", "eq", "eqty"],
    &["estate", "est"],
    &["european", "eur", "euro", "europe"],
    &["exchange", "exch", "xchg"],
    &["exploration", "expl", "explor"],
    &["federal", "fed", "fedl"],
    &["finance", "financial", "fin", "finl", "financials", "fncl"],
    &["first", "1st", "fst"],
    &["fund", "fd", "fds", "funds"],
    &["general", "gen", "genl"],
    &["german", "germany", "ger"],
    &["global", "glbl", "gl", "glob"],
    &["government", "govt", "gov"],
    &["group", "grp", "gp", "gr", "groupe"],
    &["growth", "grwth"],
    &["health", "hlth"],
    &["healthcare", "hlthcare", "hlthcr"],
    &["high", "hi"],
    &["holding", "holdings", "hldg", "hldgs", "hold", "hdgs", "hlds"],
    &["hospital", "hosp"],
    &["hotels", "hotel", "htls", "htl"],
    &["income", "incm"],
    &["incorporated", "inc"],
    &["index", "idx", "indx"],
    &["industries", "industry", "industrial", "inds", "ind", "indl", "indus", "indust"],
    &["information", "info", "inf"],
    &["infrastructure", "infra", "infrastr"],
    &["institute", "inst", "institutional", "instl"],
    &["instruments", "instrument", "instr", "instrs"],
    &["insurance", "ins", "insur"],
    &["interactive", "interact"],
    &["intermediate", "interm", "intm"],
    &["international", "intl", "int", "internatl", "intnl", "internat"],
    &["investment", "investments", "inv", "invs", "invest", "invt", "invts"],
    &["investors", "invstrs"],
    &["japan", "jpn"],
    &["laboratories", "laboratory", "labs", "lab"],
    &["leveraged", "lev", "lvrgd"],
    &["limited", "ltd", "lmtd"],
    &["logistics", "logis", "logist"],
    &["machines", "machine", "mach", "machinery"],
    &["management", "mgmt", "mgt", "mngmt"],
    &["manufacturing", "mfg", "manuf", "manu", "mfrs"],
    &["maritime", "marit"],
    &["market", "markets", "mkt", "mkts"],
    &["materials", "material", "matls", "matl"],
    &["mechanical", "mech"],
    &["medical", "med", "medl"],
    &["metals", "metal", "metl"],
    &["mining", "mng"],
    &["mortgage", "mtge", "mtg"],
    &["motors", "motor", "mtrs", "mtr"],
    &["mountain", "mtn"],
    &["municipal", "muni", "mun"],
    &["mutual", "mutl"],
    &["national", "natl", "nat", "nationale"],
    &["network", "networks", "ntwk", "netwk"],
    &["northern", "nthn", "northn", "north", "nth"],
    &["partners", "partnership", "ptnrs", "prtnrs", "ptnr"],
    &["petroleum", "petro", "pete", "petrol"],
    &["pharmaceuticals", "pharmaceutical", "pharma", "pharm", "pharms", "phar"],
    &["portfolio", "port", "pf", "portf"],
    &["power", "pwr"],
    &["preferred", "pfd", "pref", "prf"],
    &["products", "product", "prods", "prod", "production", "prodtn"],
    &["properties", "property", "props", "prop", "ppty", "pptys"],
    &["public", "pub"],
    &["railway", "railways", "railroad", "rail", "rwy", "ry"],
    &["realty", "rlty"],
    &["reinsurance", "rueckversicherung", "reins"],
    &["research", "resh", "rsch"],
    &["resources", "resource", "res", "resrc", "rsc"],
    &["restaurants", "restaurant", "rest", "restrnt"],
    &["retail", "retl"],
    &["royal", "ryl"],
    &["savings", "svgs", "sav", "saving"],
    &["science", "sciences", "sci", "scientific", "scien"],
    &["securities", "security", "secs", "sec"],
    &["semiconductor", "semiconductors", "semicon", "semi", "semicond", "semis"],
    &["services", "service", "svcs", "svc", "serv", "servs", "srvcs"],
    &["shares", "share", "shs", "sh"],
    &["short", "shrt"],
    &["societe", "soc", "ste"],
    &["software", "sftwr", "softwr"],
    &["solutions", "solution", "soln", "solns", "sol", "solu"],
    &["southern", "sthn", "south", "sth"],
    &["special", "spec", "specialty", "spl", "splty"],
    &["sponsored", "spon", "sp"],
    &["standard", "std", "stand"],
    &["steel", "stl"],
    &["store", "stores", "strs"],
    &["strategic", "strategies", "strategy", "strat", "strgy"],
    &["system", "systems", "sys", "syst", "systs"],
    &["technology", "technologies", "tech", "techs", "technol", "tec", "technolog"],
    &["telecommunications", "telecom", "telecommunication", "telecomm", "telcom", "tel"],
    &["telephone", "teleph", "tele"],
    &["therapeutics", "therapeutic", "thera", "ther", "therap"],
    &["total", "tot"],
    &["trading", "trdg", "trad"],
    &["transport", "transportation", "transp", "trans", "transn"],
    &["treasury", "treas", "trsy", "tsy"],
    &["trust", "tr", "trt", "tst"],
    &["united", "utd", "unit"],
    &["universal", "univ", "unvl"],
    &["university", "unv"],
    &["utilities", "utility", "util", "utils"],
    &["venture", "ventures", "vent", "vents"],
    &["water", "wtr"],
    &["western", "westn", "west", "wstn"],
    &["wholesale", "whsl", "whlsl"],
    &["world", "wrld", "worldwide", "wwide"],
];

/// The words that a word may stand for, or that may stand for it, without itself.
pub(crate) fn equivalents(word: &str) -> impl Iterator<Item = &'static str> {
    let group = GROUPS.iter().find(|group| group.contains(&word));
    group.into_iter().flat_map(|group| group.iter().copied()).filter(move |other| *other != word)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::words::squeeze;

    #[test]
    fn each_word_is_in_one_group_and_folded() {
        let mut known = BTreeSet::new();
        for word in GROUPS.iter().flat_map(|group| group.iter()) {
            assert!(known.insert(*word), "{word} is in two groups");
            assert_eq!(squeeze(word), *word);
        }
    }

    #[test]
    fn both_ways() {
        for (a, b) in [
            ("international", "intl"),
            ("holdings", "hldgs"),
            ("services", "svcs"),
            ("technologies", "tech"),
            ("manufacturing", "mfg"),
            ("group", "grp"),
            ("corporation", "corp"),
            ("investment", "inv"),
        ] {
            assert!(equivalents(a).any(|other| other == b), "{a} {b}");
            assert!(equivalents(b).any(|other| other == a), "{b} {a}");
        }
        assert_eq!(equivalents("apple").count(), 0);
        assert!(equivalents("corp").all(|other| other != "corp"));
        for group in GROUPS {
            for word in *group {
                assert_eq!(equivalents(word).count(), group.len() - 1);
            }
        }
    }
}
