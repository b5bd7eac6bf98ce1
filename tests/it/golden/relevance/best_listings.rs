//! The best listing of well-known securities over the real instruments, expected by common
//! knowledge. The data lack some listings, such as those in Tokyo and most of those in London, so
//! only securities whose expected listing is there are named.

use std::collections::{BTreeMap, BTreeSet};

use figdex_index::{
    Figi, Filters, IdType, Meter, Property, RowSource as _, country_of_exchange, is_platform,
};

use crate::support::{Server, real_data};

/// The ISIN of a security, and the ticker and the exchange code of its best listing.
const EXPECTED: &[(&str, &str)] = &[
    ("US0378331005", "AAPL US"),
    ("US5949181045", "MSFT US"),
    ("US02079K3059", "GOOGL US"),
    ("US0231351067", "AMZN US"),
    ("US0846707026", "BRK/B US"),
    ("US0846701086", "BRK/A US"),
    // Registered in the Cayman Islands, listed in Hong Kong or in the United States.
    ("KYG017191142", "9988 HK"),
    ("KYG596691041", "3690 HK"),
    ("KYG217651051", "1 HK"),
    ("KYG4124C1096", "GRAB US"),
    ("KYG6683N1034", "NU US"),
    ("US01609W1027", "BABA US"),
    // Registered in Luxembourg, the Netherlands or Ireland.
    ("LU1778762911", "SPOT US"),
    ("LU1598757687", "MT NA"),
    ("LU0974299876", "GLOB US"),
    ("NL0010273215", "ASML NA"),
    ("NL0011585146", "RACE US"),
    ("NL00150001Q9", "STLA FP"),
    ("NL0013654783", "PRX NA"),
    ("NL0000226223", "STM FP"),
    ("NL0000009538", "PHIA NA"),
    ("NL0000009165", "HEIA NA"),
    ("NL0000235190", "AIR FP"),
    ("IE00B4BNMY34", "ACN US"),
    ("IE000S9YS762", "LIN US"),
    ("IE00BTN1Y115", "MDT US"),
    ("IE00BYTBXV33", "RY4C ID"),
    ("IE00B8KQN827", "ETN US"),
    ("IE00BLP1HW54", "AON US"),
    ("IE00BKVD2N49", "STX US"),
    // Registered on other islands.
    ("BMG507361001", "JAR LN"),
    ("BMG2519Y1084", "BAP US"),
    ("PA1436583006", "CCL US"),
    ("LR0008862868", "RCL US"),
    ("AN8068571086", "SLB US"),
    ("JE00BJ1F3079", "AMCR US"),
    // At home.
    ("AU000000RIO1", "RIO AU"),
    ("AU000000BHP4", "BHP AU"),
    ("CH0038863350", "NESN SW"),
    ("CH0012032048", "ROG SW"),
    ("CH0244767585", "UBSG SW"),
    ("FR0000120271", "FP FP"),
    ("DE0007164600", "SAP GR"),
    ("DE0007236101", "SIE GR"),
    ("DE0005557508", "DTE GR"),
    ("DE0007664039", "VOW3 GR"),
    ("KR7005930003", "005930 KS"),
    ("KR7000660001", "000660 KS"),
    ("TW0002330008", "2330 TT"),
    ("INE002A01018", "RELIANCE IN"),
    ("FI0009000681", "NOKIA FH"),
    ("NO0010096985", "EQNR NO"),
    ("ES0113900J37", "SAN SM"),
    ("ES0148396007", "ITX SM"),
    ("CA82509L1076", "SHOP CN"),
    ("CA7800871021", "RY CN"),
    ("BE0974293251", "ABI BB"),
    ("CH0044328745", "CB US"),
    ("US58733R1023", "MELI US"),
    ("IL0010824113", "CHKP US"),
    // The data have no listing in London or Tokyo: the largest market that is not a line of foreign
    // shares in the United States.
    ("GB00BP6MXD84", "SHELL NA"),
    ("JP3435000009", "SON1 GR"),
];

/// A row of the data.
struct Listing {
    isins: Vec<String>,
    /// Its ticker and its exchange code.
    shown: String,
    security: Figi,
    figi: Figi,
}

/// contract 16.15: the listing that common knowledge expects is the best one, whichever listing of
/// the security is asked for.
#[test]
fn well_known_securities_have_the_expected_best_listing() {
    let Some(folder) = real_data() else { return };
    let server = Server::of_real_instruments().unwrap();
    let catalogue = server.catalogue();
    // The data know several share classes of some ISINs, of which the expected row has one.
    let mut rows: Vec<Listing> = Vec::new();
    let all = catalogue.instruments(|instrument| {
        let isins = instrument.identifiers_of(IdType::Isin).map(|isin| isin.as_str().to_owned());
        let code = instrument.property(Property::ExchCode).unwrap_or_default();
        rows.push(Listing {
            isins: isins.collect(),
            shown: format!("{} {code}", instrument.ticker.as_deref().unwrap_or_default()),
            security: instrument.share_class_figi.unwrap_or(instrument.figi),
            figi: instrument.figi,
        });
        Ok::<_, figdex_index::Error>(())
    });
    all.unwrap();
    let filters = Filters { include_unlisted_equities: true, ..Filters::default() };
    let (mut wrong, mut listings) = (BTreeMap::new(), 0);
    for (isin, expected) in EXPECTED {
        let of_isin = rows.iter().filter(|row| row.isins.iter().any(|of| of == isin));
        let of_isin: BTreeSet<Figi> = of_isin.map(|row| row.security).collect();
        let is_expected =
            |row: &&Listing| row.shown == *expected && of_isin.contains(&row.security);
        let security = rows.iter().find(is_expected).map(|row| row.security);
        assert!(security.is_some(), "the data have no {isin} {expected}");
        for row in rows.iter().filter(|row| Some(row.security) == security) {
            listings += 1;
            let hit = catalogue.find(row.figi).unwrap();
            let best = catalogue.best_listing(hit, &filters, &Meter::unlimited()).unwrap();
            let best = catalogue.row(best);
            let [ticker, code] = [best.ticker(), best.exch_code()]
                .map(|text| text.map(|text| text.to_string()).unwrap_or_default());
            let found = format!("{ticker} {code}");
            if found != *expected {
                wrong.insert(*isin, (found, *expected));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {}: {wrong:#?}", wrong.len(), EXPECTED.len());
    assert!(EXPECTED.len() >= 40 && listings > 500, "{listings}");

    // Each code of the data whose exchange has a country is in the table.
    let table = std::fs::read_to_string(folder.join("enums/exchanges.csv")).unwrap();
    let mut different = Vec::new();
    let mut columns = csv::Reader::from_reader(table.as_bytes());
    for record in columns.records() {
        let record = record.unwrap();
        let (code, country) = (&record[2], &record[4]);
        let is_country = country.len() == 2 && country.bytes().all(|b| b.is_ascii_uppercase());
        if code.is_empty() || !is_country || DIFFERENT.contains(&code) {
            continue;
        }
        match country_of_exchange(code) {
            Some(known) if known == country => {}
            known => different.push((code.to_owned(), country.to_owned(), known)),
        }
    }
    assert!(different.is_empty(), "{different:?}");
}

/// Every exchange code of the bundled sample is in the table of exchanges.
#[test]
fn the_table_has_the_exchanges_of_the_sample() {
    let server = Server::of_sample();
    let catalogue = server.catalogue();
    let codes = catalogue.vocabulary().values(Property::ExchCode);
    let unknown = codes.filter(|code| country_of_exchange(code).is_none() && !is_platform(code));
    // Venues of crypto currencies, whose codes are small letters, are in no country.
    let unknown = unknown.filter(|code| code.bytes().any(|byte| !byte.is_ascii_lowercase()));
    // Bonds that no exchange lists.
    assert_eq!(unknown.collect::<Vec<_>>(), ["NOT LISTED"]);
}

/// Codes of which the table has another country, or none, on purpose: Anguilla, Jersey and Dakar
/// have their own country, and platforms that only report trades have none.
const DIFFERENT: &[&str] = &[
    "AI", "JY", "ZS", // and the platforms:
    "A0", "B2", "B3", "B4", "E1", "EB", "EU", "I2", "L1", "L3", "M0", "QX", "S1", "S4", "T1", "T2",
    "TQ", "WT", "X1", "X2", "X9", "XA", "XB", "XC", "XE", "XF", "XG", "XH", "XI", "XJ", "XK", "XL",
    "XN", "XO", "XS", "XT", "XV", "XZ",
];
