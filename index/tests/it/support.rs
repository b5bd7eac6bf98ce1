//! A small test universe of instruments, and its index.

use std::path::Path;

use figdex_index::{
    BuildOptions, Builder, Catalogue, Date, Figi, Instrument, Property, check_digit,
};

/// The FIGI with that number in a small test universe. FIGIs ascend with their numbers.
pub(crate) fn figi(number: u32) -> Figi {
    let body = format!("BBG{number:08}");
    let digit = check_digit::double_add_double(body.as_bytes()).unwrap();
    Figi::parse(&format!("{body}{digit}")).unwrap()
}

/// Instruments whose fields vary with their number, so that each filter passes some of them.
pub(crate) fn universe(count: u32) -> Vec<Instrument> {
    let pick = |values: &[&str], number: u32| values.get(number as usize).map(|v| (*v).to_owned());
    (0..count)
        .map(|number| {
            let mut instrument = Instrument {
                ticker: Some(["IBM", "AAPL", "brk/b"][number as usize % 3].to_owned()),
                composite_figi: Some(figi(number - number % 5)),
                strike: (number % 2 == 0).then_some(f64::from(number % 10)),
                coupon: (number % 3 == 0).then_some(f64::from(number % 7) / 2.0),
                contract_size: (number % 4 == 0).then_some(100.0),
                expiration: (number % 2 == 0)
                    .then(|| Date::from_days(20_000 + i64::from(number)).unwrap()),
                maturity: (number % 5 == 0)
                    .then(|| Date::from_days(21_000 + i64::from(number)).unwrap()),
                listed: [None, Some(true), Some(false)][number as usize % 3],
                ..Instrument::new(figi(number))
            };
            instrument.properties[Property::ExchCode as usize] =
                pick(&["US", "GR", "LN"], number % 4);
            instrument.properties[Property::MarketSecDes as usize] =
                pick(&["Equity", "Corp"], number % 3);
            instrument
        })
        .collect()
}

pub(crate) fn publish(
    index: &Path,
    instruments: &[Instrument],
    part_instruments_max: u32,
) -> Catalogue {
    publish_with(index, instruments, BuildOptions { part_instruments_max, ..options() })
}

/// Options that suit a small universe.
pub(crate) fn options() -> BuildOptions {
    BuildOptions { segment_memory_bytes: 32 << 20, ..BuildOptions::default() }
}

pub(crate) fn publish_with(
    index: &Path,
    instruments: &[Instrument],
    options: BuildOptions,
) -> Catalogue {
    let mut builder = Builder::create(index, options).unwrap();
    for instrument in instruments {
        builder.add(instrument.clone()).unwrap();
    }
    builder.publish(Vec::new()).unwrap();
    Catalogue::open(index).unwrap()
}
