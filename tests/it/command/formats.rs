//! Formats by description: each format that ships, from small hand-written dumps; columns files; and
//! the makers' own files, where this machine has them.

use std::path::Path;

use figdex_ingest::{Build, Counts, Format, Input, MaxRejects};
use serde_json::{Value, json};

use crate::support::{Server, figi, figis, real_data};

/// Builds an index whatever the number of rejects.
fn build(input: Input, format: Option<Format>) -> Server {
    Server::build(|index| Build {
        format,
        max_rejects: MaxRejects::Percent(100.0),
        ..Build::new(vec![input], index)
    })
}

fn memory(dump: &str) -> Input {
    Input::Memory("dump", dump.as_bytes().into())
}

/// The numbers of rows read, instruments, rows merged, rejected and skipped.
fn counts(server: &Server) -> [u64; 5] {
    assert!(server.report.adds_up());
    let Counts { read, instruments, merged, rejected, skipped } = server.report.total();
    [read, instruments, merged, rejected, skipped]
}

fn rejected(server: &Server, reason: &str) -> u64 {
    server.report.reasons.get(reason).map_or(0, |tally| tally.count)
}

/// Asserts that a job finds one row, which has these values.
#[track_caller]
fn finds(server: &Server, job: &Value, expected: &Value) {
    let answer = server.map(&json!([job])).remove(0);
    let rows = answer["data"].as_array().unwrap_or_else(|| panic!("{job} {answer}"));
    assert_eq!(rows.len(), 1, "{job} {answer}");
    for (key, value) in expected.as_object().unwrap() {
        assert_eq!(rows[0][key], *value, "{key} of {job}");
    }
}

/// Builds a dump once with its format recognised and once with it named, and checks both.
#[track_caller]
fn check(format: &str, dump: &str, expected: [u64; 5], found: &[(Value, Value)]) {
    for given in [None, Some(format.parse().unwrap())] {
        let server = build(memory(dump), given);
        assert_eq!(server.report.inputs[0].format, format);
        assert_eq!(counts(&server), expected, "{}", server.report);
        assert!(server.report.dropped.is_empty(), "{}", server.report);
        for (job, expected) in found {
            finds(&server, job, expected);
        }
    }
}

#[test]
fn open_symbology_files() {
    check(
        "open-symbology",
        "NAME|ID_BB_SEC_NUM_DES|FEED_SOURCE|ID_BB_SEC_NUM_SRC|ID_BB_UNIQUE|SECURITY_TYP|MARKET_SECTOR_DES|ID_BB_GLOBAL|COMPOSITE_ID_BB_GLOBAL|\n\
         INTL \"BUSINESS MACHINES|IBM|US|1|EQ0010080100001000|Common Stock|Equity|BBG000BLNNH6|BBG000BLNNH6|\n\
         INTL \"BUSINESS MACHINES|IBM|UN|1|EQ0010080100001001|Common Stock|Equity|BBG000BLNQ16|BBG000BLNNH6|\n\
         NO FIGI|X|UN|1|EQ1|Common Stock|Equity|||\n",
        [3, 2, 0, 0, 1],
        &[(
            json!({"idType": "ID_BB_UNIQUE", "idValue": "EQ0010080100001001"}),
            json!({"figi": "BBG000BLNQ16", "name": "INTL \"BUSINESS MACHINES", "ticker": "IBM",
                   "exchCode": "UN", "compositeFIGI": "BBG000BLNNH6",
                   "securityType": "Common Stock", "marketSector": "Equity"}),
        )],
    );
}

#[test]
fn back_office_files() {
    let row = |code: &str, figi: &str| {
        format!(
            "IBM|{code}|3|{figi}|x|x|IBM US Equity|Common Stock|Equity|IBM|INTL BUSINESS|x|BBG000BLNNH6|x|x|x|x|N.A.|UN|BBG001S5S399|\n"
        )
    };
    let dump = format!(
        "START-OF-FILE\nPROGRAMNAME=getdata\nSTART-OF-DATA\n{}{}{}END-OF-DATA\nEND-OF-FILE\n",
        row("0", "BBG000BLNQ16"),
        row("-1", "BBG000BLNNH6"),
        row("0", "N.A.")
    );
    check(
        "back-office",
        &dump,
        // Control lines count as skipped.
        [8, 1, 0, 0, 7],
        &[(
            json!({"idType": "ID_BB_GLOBAL", "idValue": "BBG000BLNQ16"}),
            json!({"name": "INTL BUSINESS", "ticker": "IBM", "exchCode": "UN",
                   "compositeFIGI": "BBG000BLNNH6", "shareClassFIGI": "BBG001S5S399"}),
        )],
    );
}

#[test]
fn finnhub_symbols() {
    check(
        "finnhub",
        r#"[{"currency":"USD","description":"BERKSHIRE HATHAWAY INC-CL B","displaySymbol":"BRK.B",
             "figi":"BBG000DWG505","isin":null,"mic":"XNYS","shareClassFIGI":"BBG001S5S399","symbol":"BRK.B","symbol2":"","type":"Common Stock"},
            {"currency":"USD","description":"X","displaySymbol":"X","figi":"","isin":"","mic":"XNYS","shareClassFIGI":"","symbol":"X","symbol2":"","type":""}]"#,
        [2, 1, 0, 0, 1],
        &[(
            json!({"idType": "TICKER", "idValue": "BRK/B", "currency": "USD"}),
            json!({"figi": "BBG000DWG505", "compositeFIGI": "BBG000DWG505",
                   "name": "BERKSHIRE HATHAWAY INC-CL B", "marketSector": "Equity"}),
        )],
    );
}

#[test]
fn polygon_tickers() {
    let found = [(
        json!({"idType": "TICKER", "idValue": "BRK/B", "currency": "USD"}),
        json!({"figi": "BBG000DWG505", "compositeFIGI": "BBG000DWG505", "exchCode": "US",
               "shareClassFIGI": "BBG001S5S399", "securityType": "Common Stock",
               "securityType2": "Common Stock", "marketSector": "Equity"}),
    )];
    check(
        "polygon-v3",
        "ticker,name,market,locale,primary_exchange,type,active,currency_name,cik,composite_figi,share_class_figi,last_updated_utc\n\
         BRK.B,\"Berkshire, Class B\",stocks,us,XNYS,CS,True,usd,0001067983,BBG000DWG505,BBG001S5S399,2025-09-24T06:06:16Z\n\
         NONE,None,stocks,us,XNYS,CS,True,usd,,,,\n",
        [2, 1, 0, 0, 1],
        &found,
    );
    check(
        "polygon-v3",
        r#"{"status": "OK", "results": [{"ticker": "BRK.B", "market": "stocks", "locale": "us",
            "primary_exchange": "XNYS", "type": "CS", "currency_name": "usd",
            "composite_figi": "BBG000DWG505", "share_class_figi": "BBG001S5S399"}], "count": 1}"#,
        [1, 1, 0, 0, 0],
        &found,
    );
    check(
        "polygon-v2",
        "ticker,name,market,locale,type,currency,active,primaryExch,updated,codes,url\n\
         A,\"Agilent\",STOCKS,US,CS,USD,True,NYE,2020-10-26,\"{'cik': None, 'figiuid': 'EQ0087231700001000', 'scfigi': 'BBG001SCTQY4', 'cfigi': 'BBG000C2V3D6', 'figi': 'BBG000C2V3D6'}\",x\n\
         B,\"None\",STOCKS,US,,USD,True,NYE,2020-10-26,,x\n",
        [2, 1, 0, 0, 1],
        &[(
            json!({"idType": "ID_BB_UNIQUE", "idValue": "EQ0087231700001000"}),
            json!({"figi": "BBG000C2V3D6", "compositeFIGI": "BBG000C2V3D6",
                   "shareClassFIGI": "BBG001SCTQY4", "ticker": "A"}),
        )],
    );
}

#[test]
fn twelve_data_pages() {
    check(
        "twelve-data",
        r#"{"data":[{"symbol":"AAPL","name":"Apple Inc","currency":"USD","exchange":"NASDAQ","mic_code":"XNGS","country":"United States","type":"Common Stock","figi_code":"BBG000B9Y5X2","cfi_code":"ESVUFR","isin":"request_access_via_add_ons","cusip":"request_access_via_add_ons"}],"count":1,"status":"ok"}"#,
        [1, 1, 0, 0, 0],
        &[(
            json!({"idType": "ID_BB_GLOBAL", "idValue": "BBG000B9Y5X2", "micCode": "XNGS"}),
            json!({"name": "Apple Inc", "securityType": "Common Stock", "marketSector": "Equity"}),
        )],
    );
}

#[test]
fn finance_database_files() {
    check(
        "financedatabase",
        "symbol,name,summary,currency,sector,industry_group,industry,exchange,mic,market,country,state,city,zipcode,website,market_cap,isin,cusip,figi,composite_figi,shareclass_figi,delisted\n\
         VOD.L,Vodafone,\"long, with\n a line break and \"\"quotes\"\"\",GBP,,,,LSE,XLON,,,,,,,Large Cap,GB00BH4HKS39,,BBG000C6K6G9,BBG000C6K6G9,BBG001S5TFN5,False\n\
         X.L,None,,GBP,,,,LSE,XLON,,,,,,,,,,,,,False\n",
        [2, 1, 0, 0, 1],
        &[(
            json!({"idType": "ID_ISIN", "idValue": "GB00BH4HKS39", "micCode": "XLON", "currency": "GBP"}),
            json!({"figi": "BBG000C6K6G9", "ticker": "VOD", "name": "Vodafone"}),
        )],
    );
}

/// The words of FinanceDatabase are numbers of the column `importance`, and others are bad cells.
#[test]
fn finance_database_says_what_is_important() {
    let caps = ["Nano Cap", "Micro Cap", "Small Cap", "Mid Cap", "Large Cap", "Mega Cap"];
    let rows =
        caps.iter().chain(&["", "Titan Cap"]).zip(0..).map(|(cap, number)| {
            format!("Z{number}.L,ZEBRA {number},XLON,{cap},{}\n", figi(number))
        });
    let dump = format!("symbol,name,mic,market_cap,figi\n{}", rows.collect::<String>());
    let server = build(memory(&dump), Some("financedatabase".parse().unwrap()));
    let dropped: Vec<_> = server.report.dropped.iter().collect();
    let [((column, reason), tally)] = dropped[..] else { panic!("{dropped:?}") };
    assert_eq!((column.name(), *reason, tally.count), ("importance", "not a number from 0 on", 1));
    let found = server.post("/v3/search", r#"{"query": "zebra"}"#).body;
    let found: Value = serde_json::from_str(&found).unwrap();
    assert_eq!(figis(&found), [5, 4, 3, 2, 1, 0, 6, 7].map(figi));
}

/// contract 6.10: in answers of the public service an `exchCode` of null says that an equity is
/// not listed.
#[test]
fn answers_of_the_public_service() {
    let rows = r#"{"figi":"BBG000BLNNH6","name":"INTL BUSINESS MACHINES CORP","ticker":"IBM","exchCode":"US","compositeFIGI":"BBG000BLNNH6","securityType":"Common Stock","marketSector":"Equity","shareClassFIGI":"BBG001S5S399","securityType2":"Common Stock","securityDescription":"IBM"},
                  {"figi":"BBG001S5S399","name":"INTL BUSINESS MACHINES CORP","ticker":"IBM","exchCode":null,"compositeFIGI":null,"securityType":"Common Stock","marketSector":"Equity","shareClassFIGI":"BBG001S5S399","securityType2":"Common Stock","securityDescription":"IBM"}"#;
    let dumps = [
        format!(r#"[{{"warning":"No identifier found."}},{{"data":[{rows}]}}]"#),
        format!(r#"{{"data":[{rows}],"next":"abc","total":2}}"#),
        // Each line is a page.
        format!("{{\"data\":[]}}\n{{\"data\":[{}]}}", rows.replace('\n', "")),
    ];
    for dump in dumps {
        let found = [(
            json!({"idType": "TICKER", "idValue": "IBM"}),
            json!({"figi": "BBG000BLNNH6", "exchCode": "US", "securityDescription": "IBM"}),
        )];
        if !dump.starts_with(r#"{"data":[]"#) {
            check("answers", &dump, [2, 2, 0, 0, 0], &found);
        }
        let server = build(memory(&dump), Some("answers".parse().unwrap()));
        let all = json!([{"idType": "TICKER", "idValue": "IBM", "includeUnlistedEquities": true}]);
        assert_eq!(figis(&server.map(&all)[0]), ["BBG000BLNNH6", "BBG001S5S399"]);
    }
}

#[test]
fn t_invest_instruments() {
    check(
        "t-invest",
        r#"{"shares": [{"figi": "BBG004730N88", "ticker": "SBER", "classCode": "TQBR", "isin": "RU0009029540", "currency": "rub", "name": "Сбер Банк", "shareType": "SHARE_TYPE_COMMON", "nominal": {"units": "3", "nano": 0}, "apiTradeAvailableFlag": true}],
            "bonds": [{"figi": "BBG00R05JT04", "ticker": "RU000A1013Y3", "classCode": "TQCB", "isin": "RU000A1013Y3", "currency": "rub", "name": "x", "maturityDate": "2023-05-25T00:00:00Z", "apiTradeAvailableFlag": true}],
            "futures": [{"figi": "FUTNL0422000", "ticker": "NlJ2", "classCode": "SPBFUT", "expirationDate": "1970-01-01T00:00:00Z", "apiTradeAvailableFlag": true}]}"#,
        [3, 2, 0, 0, 1],
        &[
            (
                json!({"idType": "TICKER", "idValue": "SBER", "currency": "RUB"}),
                json!({"name": "Сбер Банк", "marketSector": "Equity", "securityType": "Common Stock"}),
            ),
            (
                json!({"idType": "ID_ISIN", "idValue": "RU000A1013Y3", "maturity": ["2023-05-25", "2023-05-25"]}),
                json!({"figi": "BBG00R05JT04", "marketSector": "Corp"}),
            ),
        ],
    );
}

#[test]
fn kaiko_assets() {
    check(
        "kaiko",
        "\u{feff}\"Asset Name\",\"Code\",\"Asset Class\",\"ETH Address\",\"FIGI Code\",\"DTI Assets\",\"DTI FFG\",\"ISIN\"\n\
         \"Cardano\",\"ada\",\"cryptocurrency\",\"\",\"KKG0000007D8\",\"HWGL1C2CK,RXDCQ4H4S\",\"76QS7QCXB\",\"XT76QS7QCXB8\"\n\
         \"Nothing\",\"007\",\"cryptocurrency\",\"\",\"\",\"\",\"\",\"\"\n",
        [2, 1, 0, 0, 1],
        &[(
            json!({"idType": "ID_ISIN", "idValue": "XT76QS7QCXB8"}),
            json!({"figi": "KKG0000007D8", "ticker": "ADA", "name": "Cardano", "marketSector": "Curncy"}),
        )],
    );
}

#[test]
fn free_ticker_and_iex() {
    check(
        "free-ticker",
        "listing_key,ticker,exchange,asset_type,name,country,isin,figi,cik,lei\n\
         AMS::2NVD,2NVD,AMS,ETF,Leverage Shares,Netherlands,XS2820604853,BBG00JGFVG52,,\n",
        [1, 1, 0, 0, 0],
        &[(
            json!({"idType": "ID_ISIN", "idValue": "XS2820604853"}),
            json!({"ticker": "2NVD", "securityType": "ETP", "securityType2": "Mutual Fund"}),
        )],
    );
    check(
        "iex",
        r#"[{"symbol":"A","exchange":"XNYS","name":"Agilent","date":"2024-01-02","type":"cs","iexId":"IEX_1","region":"US","currency":"USD","isEnabled":true,"figi":"BBG000C2V3D6","cik":"1","lei":"x"}]"#,
        [1, 1, 0, 0, 0],
        &[(
            json!({"idType": "TICKER", "idValue": "A"}),
            json!({"figi": "BBG000C2V3D6", "securityType": "Common Stock"}),
        )],
    );
}

/// A columns file that uses most of its keys.
/// A vendor lists instruments that have no FIGI: such rows are skipped. In a dump of the
/// canonical columns, or of a columns file, they are rejected. Nothing else is forgiven.
#[test]
fn rows_without_a_figi() {
    let vendors = "symbol,name,mic,composite_figi,shareclass_figi,market_cap,figi\n\
                   A,Not a FIGI,XLON,,,,BBG000BLNNH5\nIBM,Intl,XLON,,,,BBG000BLNNH6\n\
                   B,None,XLON,,,,\n";
    let server = build(memory(vendors), Some("financedatabase".parse().unwrap()));
    assert_eq!(counts(&server), [3, 1, 0, 1, 1], "{}", server.report);
    assert_eq!(rejected(&server, "wrong figi: check digit"), 1);
    let skips: Vec<_> = server.report.skips.iter().collect();
    let [(reason, tally)] = *skips else { panic!("{skips:?}") };
    assert_eq!(
        (*reason, tally.count, tally.first.line),
        ("no FIGI: the vendor lists instruments that have none", 1, 4,)
    );
    assert!(server.report.to_string().contains("no FIGI: the vendor"), "{}", server.report);

    let own =
        Format::parse("financedatabase", "[columns]\nfigi = 'figi'\nname = 'name'\n").unwrap();
    let server = build(memory(vendors), Some(own));
    assert_eq!(counts(&server), [3, 1, 0, 2, 0], "{}", server.report);
    assert_eq!(rejected(&server, "no figi"), 1);
    let server = build(memory("figi,name\nBBG000BLNNH6,IBM\n,None\n"), None);
    assert_eq!(counts(&server), [2, 1, 0, 1, 0], "{}", server.report);
}

#[test]
fn a_columns_file() {
    let described = Format::parse(
        "columns.toml",
        r##"
        about = "The master file of a bank"
        format = "delimited"
        encoding = "windows-1252"
        delimiter = ";"
        skip-lines = 1
        control-lines = ["#*"]
        blank = ["-"]
        skip = [{ Status = ["dead", "gone"] }, { Kind = { starts = "TEST" } }]

        [columns]
        figi = ["Figi", "OldFigi"]
        name = "Name"
        ticker = { from = "Symbol", replace = [[".", "/"]], upper = true }
        exchCode = { value = "GR" }
        marketSector = { from = "Kind", values = { Bond = "Corp", Share = "Equity" } }
        coupon = { from = "Coupon", number = ["1.234,5", "7 5/8"] }
        maturity = { from = "Due", date = ["%d.%m.%Y", "%Y%m%d"] }
        ID_ISIN = "ISIN"
        "##,
    );
    let dump = b"The bank, 2026\n\
        Figi;OldFigi;Name;Symbol;Kind;Status;Coupon;Due;ISIN\n\
        # and a remark\n\
        BBG00R05JT04;-;M\xfcnchen;mue.a;Bond;ok;4,625;25.05.2033;RU000A1013Y3\n\
        -;BBG000BLNNH6;IBM;ibm;Share;ok;-;-;-\n\
        BBG000C2V3D6;;x;x;Bond;dead;;;\n\
        BBG000C2V3D6;;x;x;TEST 1;ok;;;\n\
        BBG000C2V3D6;;x;x;Bond;ok;7 5/8;2033-05-25;\n";
    let server = build(Input::Memory("dump", dump[..].into()), Some(described.unwrap()));
    assert_eq!(counts(&server), [6, 3, 0, 0, 3], "{}", server.report);
    finds(
        &server,
        &json!({"idType": "ID_ISIN", "idValue": "RU000A1013Y3", "coupon": [4.625, 4.625], "maturity": ["2033-05-25", "2033-05-25"]}),
        &json!({"name": "München", "ticker": "MUE/A", "exchCode": "GR", "marketSector": "Corp"}),
    );
    finds(
        &server,
        &json!({"idType": "TICKER", "idValue": "IBM"}),
        &json!({"figi": "BBG000BLNNH6"}),
    );
    let dropped: Vec<_> = server.report.dropped.iter().collect();
    assert_eq!(dropped.len(), 1);
    assert_eq!(dropped[0].0.1, "not a date of the described form");
    assert_eq!(dropped[0].1.first.to_string(), "dump, line 8");
}

/// Columns that the columns file names and the dump lacks are reported.
#[test]
fn absent_and_ignored_columns_are_reported() {
    let format =
        Format::parse("f", "[columns]\nfigi = 'FIGI'\nname = ['Nmae', 'Title']\n").unwrap();
    let server = build(memory("FIGI,Name\nBBG000BLNNH6,x\n"), Some(format));
    let input = &server.report.inputs[0];
    assert_eq!(input.absent_columns, ["Nmae", "Title"]);
    assert_eq!(input.unknown_columns, ["Name"]);
    let report = server.report.to_string();
    assert!(
        report.contains("\ncolumns of the format that are missing in the input\n  dump"),
        "{report}"
    );
    assert!(report.contains("Nmae, Title"), "{report}");
}

/// `--exchanges`: of a one-to-one pair the code that a row lacks is filled; the report counts them.
#[test]
fn exchanges_fill_what_answers_lack() {
    let folder = tempfile::tempdir().unwrap();
    let table = folder.path().join("exchanges.csv");
    std::fs::write(
        &table,
        "mic,operatingMic,exchCode\nXLON,XLON,LN\nXNAS,XNAS,UW\nXNAS,XNAS,UQ\n,,AC\n",
    )
    .unwrap();
    let dump = "figi,exchCode,micCode\nBBG000BLNNH6,LN,\nBBG000B9XRY4,,XLON\nBBG000BPH459,UW,\nBBG000C2V3D6,LN,XABC\n";
    let server = Server::build(|index| Build {
        exchanges: Some(Input::File(table)),
        ..Build::new(vec![memory(dump)], index)
    });
    let report = server.report.to_string();
    let filled = "fields filled by --exchanges\n           1  exchCode\n           1  micCode";
    assert!(report.contains(filled), "{report}");
    let job = |figi: &str| json!({"idType": "ID_BB_GLOBAL", "idValue": figi, "micCode": "XLON"});
    finds(&server, &job("BBG000BLNNH6"), &json!({"exchCode": "LN"}));
    finds(&server, &job("BBG000B9XRY4"), &json!({"exchCode": "LN"}));
}

/// A file, its format, the counts of [`counts`], and the number of rejects by reason.
type RealDump = (&'static str, &'static str, [u64; 5], &'static [(&'static str, u64)]);

/// The makers' own files are recognised, and every row is accounted for.
#[test]
fn real_dumps() {
    let Some(data) = real_data() else { return };
    let cases: [RealDump; 8] = [
        ("dumps/freeticker-etf-verification.csv", "free-ticker", [599, 562, 1, 0, 36], &[]),
        ("dumps/kaiko-asset-figi.csv", "kaiko", [399, 382, 0, 0, 17], &[]),
        ("dumps/polygon-v2-tickers.csv", "polygon-v2", [50, 43, 0, 0, 7], &[]),
        ("dumps/polygon-v3-tickers.csv", "polygon-v3", [299, 221, 0, 0, 78], &[]),
        (
            "dumps/tinvest-instruments.json",
            "t-invest",
            [60, 45, 0, 1, 14],
            &[("wrong figi: check digit", 1)],
        ),
        ("financedatabase/equities-ASX.csv.gz", "financedatabase", [2047, 1041, 17, 0, 989], &[]),
        ("financedatabase/equities-ICE.csv", "financedatabase", [21, 14, 0, 0, 7], &[]),
        ("financedatabase/equities-LSE.csv.gz", "financedatabase", [3391, 758, 1, 0, 2632], &[]),
    ];
    for (name, format, expected, reasons) in cases {
        // As an operator builds it, without another limit of rejected rows.
        let input = Input::File(data.join(name));
        let server = Server::build(|index| Build::new(vec![input], index));
        assert_eq!(server.report.inputs[0].format, format, "{name}");
        assert_eq!(counts(&server), expected, "{name}\n{}", server.report);
        assert_eq!(server.report.reasons.len(), reasons.len(), "{name}\n{}", server.report);
        for (reason, count) in reasons {
            assert_eq!(rejected(&server, reason), *count, "{name} {reason}");
        }
        if format == "polygon-v3" {
            finds(
                &server,
                &json!({"idType": "TICKER", "idValue": "AA"}),
                &json!({"figi": "BBG00B3T3HD3", "shareClassFIGI": "BBG00B3T3HF1", "exchCode": "US"}),
            );
        }
        if format == "t-invest" {
            finds(
                &server,
                &json!({"idType": "ID_ISIN", "idValue": "RU000A1013Y3", "maturity": ["2023-05-25", "2023-05-25"]}),
                &json!({"figi": "BBG00R05JT04", "name": "Черкизово выпуск 2"}),
            );
        }
    }
    real_answers(&data.join("real/recorded/openfigi-rs"));
    // Answers wrapped in the HTTP exchange that they were part of.
    let wrapped = Format::parse(
        "wrapped",
        "format = 'json'\nrecords = ['response.bodyJson.data.*', 'response.bodyJson.*.data.*']\n\
         own-names = true\n",
    );
    let wrapped = wrapped.unwrap();
    for (name, rows) in [("filter_us", 100), ("mapping_aapl_us", 1), ("search_apple", 100)] {
        let path = data.join(format!("real/recorded/openfigi-ts/{name}.http.json"));
        let server = build(Input::File(path), Some(wrapped.clone()));
        assert_eq!(counts(&server), [rows, rows, 0, 0, 0], "{name}");
    }
}

/// A build reads as many rows from each file of recorded answers as a JSON parser finds in it.
fn real_answers(folder: &Path) {
    let mut files = 0;
    for entry in folder.read_dir().unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let answer: Value = serde_json::from_str(&text).unwrap();
        let parts = match &answer {
            Value::Array(jobs) => jobs.clone(),
            page => vec![page.clone()],
        };
        let rows: Vec<&Value> =
            parts.iter().filter_map(|part| part["data"].as_array()).flatten().collect();
        if rows.is_empty() {
            continue;
        }
        files += 1;
        let server = build(Input::File(path.clone()), None);
        assert_eq!(server.report.inputs[0].format, "answers", "{}", path.display());
        let [read, instruments, merged, ..] = counts(&server);
        assert_eq!((read, instruments + merged), (rows.len() as u64, rows.len() as u64));
        for row in rows.iter().step_by(17) {
            let job = json!({"idType": "ID_BB_GLOBAL", "idValue": row["figi"], "includeUnlistedEquities": true});
            finds(&server, &job, row);
        }
    }
    assert!(files > 5, "{files}");
}

/// With several columns files each input is read by the one that fits, or by a format that ships.
#[test]
fn several_columns_files() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let bank = write(
        "bank.toml",
        "recognise = { columns = ['Bank FIGI'] }\n[columns]\nfigi = 'Bank FIGI'\nname = 'N'\n",
    );
    let fund = write(
        "fund.toml",
        "recognise = { start = '# fund' }\ncontrol-lines = '#*'\n[columns]\nfigi = 'F'\nticker = 'T'\n",
    );
    let plain = write("plain.toml", "[columns]\nfigi = 'F'\n");
    let dumps = [
        write("a.csv", "Bank FIGI,N\nBBG000BLNNH6,IBM\n"),
        write("b.txt", "# fund\nF|T\nBBG000BLNNH6|IBM\n"),
        write("c.csv", "figi,currency\nBBG000BLNNH6,USD\n"),
    ];
    let format = Format::read_all(&[&bank, &fund]).unwrap();
    let server = Server::build(|index| Build {
        format: Some(format),
        ..Build::new(dumps.map(Input::File).into(), index)
    });
    assert_eq!(counts(&server), [3, 1, 2, 0, 0], "{}", server.report);
    let formats = server.report.inputs.iter().map(|input| input.format.rsplit('/').next().unwrap());
    assert_eq!(formats.collect::<Vec<_>>(), ["bank.toml", "fund.toml", "canonical"]);
    finds(
        &server,
        &json!({"idType": "TICKER", "idValue": "IBM", "currency": "USD"}),
        &json!({"name": "IBM"}),
    );
    let error = Format::read_all(&[&bank, &plain]).unwrap_err().to_string();
    assert!(
        error.ends_with("plain.toml: with several columns files, each needs the key `recognise`")
    );
}

/// When two formats fit a dump, the build does not guess.
#[test]
fn a_dump_that_fits_two_formats_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let files = ["a.toml", "b.toml"].map(|name| {
        let path = folder.path().join(name);
        std::fs::write(&path, "recognise = { columns = 'F' }\n[columns]\nfigi = 'F'\n").unwrap();
        path
    });
    let build = Build {
        format: Some(Format::read_all(&files).unwrap()),
        ..Build::new(vec![memory("F\nx\n")], folder.path().join("index"))
    };
    let error = build.run(&mut |_| {}).unwrap_err().to_string();
    assert!(
        error.starts_with("dump: the dump may be any of ")
            && error.ends_with(": name its format with --format"),
        "{error}"
    );
}
