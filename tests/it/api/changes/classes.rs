//! Contract, chapter 23: changes as a caller sees them who may not see all identifiers.

use figdex::State;
use figdex::config::{IdentifierClass, IdentifierClasses, Settings};
use figdex_index::IdType;
use serde_json::{Value, json};

use super::{Feed, settings};
use crate::support::figi;

/// Two instruments: a ticker, an ISIN and a SEDOL each.
fn dump(rows: [[&str; 3]; 2]) -> String {
    let rows = (1..).zip(rows).map(|(number, row)| format!("{},{}\n", figi(number), row.join(",")));
    format!("figi,ticker,ID_ISIN,ID_SEDOL\n{}", rows.collect::<String>())
}

const ISINS: [&str; 2] = ["US0378331005", "US4592001014"];
const SEDOLS: [&str; 2] = ["2046251", "2005973"];

fn without_sedol() -> Settings {
    let identifiers = IdentifierClasses::default().with(IdType::Sedol, IdentifierClass::Hidden);
    Settings { identifiers, ..settings() }
}

/// contract 23.7: an update of hidden columns only is left out, others have the visible columns, and
/// CSV has no others.
#[test]
fn updates_that_do_not_show_are_left_out() {
    let [isin, other] = ISINS;
    let first = dump([["A", isin, SEDOLS[0]], ["B", other, SEDOLS[1]]]);
    let feed = Feed::new(&first, |engine| State::new(engine, without_sedol()));
    let since = format!("{}-0000004", feed.token());
    // The SEDOLs of both rows change places, and one ticker changes.
    feed.build(&dump([["A", isin, SEDOLS[1]], ["BB", other, SEDOLS[0]]]));
    let pages = feed.since(&since, 1);
    assert_eq!(pages.token, format!("{}-0000004", feed.token()));
    let rows: Vec<Value> =
        pages.lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    let shown = rows.iter().map(|row| [&row["figi"], &row["ticker"], &row["ID_ISIN"]]);
    let two = figi(2);
    let expected = ["B", "BB"].map(|ticker| [json!(two), json!(ticker), json!(other)]);
    assert!(shown.eq(expected.iter().map(<[_; 3]>::each_ref)), "{rows:?}");
    let answer = feed.ask(&format!("since={since}"), &[("accept", "text/csv")]);
    let heading = answer.body.lines().next().unwrap();
    assert!(heading.contains(",ID_ISIN,") && !heading.contains("SEDOL"), "{heading}");
    assert_eq!(answer.header("figdex-not-shown"), "ID_SEDOL");
    let fields = |line: &str| line.split(',').count();
    assert!(answer.body.lines().all(|line| fields(line) == fields(heading)), "{}", answer.body);
    for value in SEDOLS {
        assert!(!pages.lines.concat().contains(value) && !answer.body.contains(value));
    }
    let page = feed.ask(&format!("since={since}"), &[("accept", "application/json")]);
    let page: Value = serde_json::from_str(&page.body).unwrap();
    assert_eq!(page["token"], pages.token);
}

/// contract 23.7: a token or cursor of data with other columns is refused, and the answer says which.
#[test]
fn a_token_has_a_class() {
    let [isin, other] = ISINS;
    let row = |ticker| dump([[ticker, isin, SEDOLS[0]], [ticker, other, SEDOLS[1]]]);
    let feed = Feed::new(&row("A"), |engine| State::new(engine, without_sedol()));
    let token = feed.token();
    let about = feed.server.request("GET", "/about", &[], "").body;
    let about: Value = serde_json::from_str(&about).unwrap();
    assert_eq!(about["token"], format!("{token}-0000004"));
    let list = feed.server.post("/resolve", "{\"jobs\": []}");
    assert_eq!(list.header("figdex-token"), format!("{token}-0000004"));
    feed.build(&row("B"));

    let text = |what: &str, differs: &str| {
        let error = format!(
            "This {what} is of data {differs}. Ask with the key that the {what} was given to, or \
             begin again: make a copy with the columns that this request may see, and go on from \
             the token that GET /about gives with the same key."
        );
        (409, json!({"error": error}).to_string())
    };
    let with = text("token", "with ID_SEDOL, which this request may not see");
    assert_eq!(feed.refusal(&format!("since={token}")), with);
    let both =
        "with ID_SEDOL, which this request may not see, and without ID_ISIN, which it may see";
    assert_eq!(feed.refusal(&format!("since={token}-0000001")), text("token", both));
    let less = "without ID_ISIN, which this request may see";
    assert_eq!(feed.refusal(&format!("since={token}-0000005")), text("token", less));
    let unknown =
        "Invalid since: it is not a token: 32 hexadecimal digits in lower case are expected.";
    for class in ["-", "-4", "-0000000", "-4000000", "-000000G"] {
        let refused = feed.refusal(&format!("since={token}{class}"));
        assert_eq!(refused, (400, json!({"error": unknown}).to_string()), "{class}");
    }
    let page = feed.ask(&format!("since={token}-0000004&limit=1"), &[]);
    let cursor = page.header("figdex-cursor");
    let rest = feed.ask(&format!("since={token}-0000004&cursor={cursor}"), &[]);
    assert_eq!((rest.status, rest.body.lines().count()), (200, 2), "{}", rest.body);
    let another = "since is not that of the cursor.";
    let refused = feed.refusal(&format!("since={token}&cursor={cursor}"));
    assert_eq!(refused, (400, json!({"error": another}).to_string()));
}
