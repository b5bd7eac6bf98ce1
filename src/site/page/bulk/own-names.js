// The names that a list has for its rows: their column, and whether the name of a row and the name of
// the security that was found have a word in common. Nothing is asked, and nothing is decided.

/** The number of first rows that are looked at. */
const ROWS_MAX = 200;

/** The usual headings of a column of names, in lower case, letters only. */
const HEADINGS = new Set(["name", "names", "security", "securityname", "securitydescription", "instrument", "instrumentname", "company", "companyname",
  "description", "issuer", "issuername", "stock", "stockname", "fund", "fundname", "holding", "holdingname", "asset", "assetname", "investment",
  "bezeichnung", "wertpapier", "wertpapiername", "wertpapierbezeichnung", "gattungsbezeichnung", "titel", "produkt", "unternehmen",
  "nom", "libellé", "désignation", "valeur", "denominazione", "descrizione", "titolo", "nombre", "descripción", "naam", "omschrijving",
  "銘柄名", "銘柄", "名称", "証券名", "名稱", "종목명"]);

/** Words that say nothing about which security is meant: legal forms, kinds of shares and funds. */
const COMMON = new Set(["inc", "corp", "corporation", "co", "company", "ltd", "limited", "plc", "llc", "lp", "ag", "se", "sa", "spa", "nv", "bv", "ab", "asa", "as", "oyj",
  "kgaa", "gmbh", "kk", "pt", "bhd", "tbk", "the", "of", "and", "und", "et", "de", "group", "grp", "holding", "holdings", "hldgs", "hldg", "intl", "international",
  "class", "cl", "ord", "ordinary", "com", "common", "stock", "share", "shares", "shs", "reg", "registered", "nam", "namen", "na", "on", "adr", "ads", "gdr",
  "pref", "vz", "vzo", "st", "dl", "eo", "sf", "usd", "eur", "gbp", "chf", "jpy", "fund", "fonds", "etf", "ucits", "trust", "acc", "dist", "new", "dm"]);

/**
 * The place of the column of names, -1 for none: one with a usual heading, or else the widest column
 * of texts next to the identifiers. `kinds` are the recognised kinds of the columns.
 */
export function nameColumn({ rows, columns }, { heading, column, currency, kinds }) {
  const below = rows.slice(heading + 1, heading + 1 + ROWS_MAX);
  const places = Array.from({ length: columns }, (_, at) => at).filter((at) => at !== column && at !== currency && (!kinds[at]?.idType));
  const widths = new Map(places.map((at) => [at, widthOf(below.map((row) => (row[at] ?? "").trim()).filter(Boolean))]));
  const widest = (some) => some.reduce((best, at) => (widths.get(at) > (widths.get(best) ?? 0) ? at : best), -1);
  const named = heading < 0 ? [] : places.filter((at) => HEADINGS.has((rows[heading][at] ?? "").normalize("NFKC").toLowerCase().replace(/[^\p{L}]+/gu, "")));
  const own = widest(named);
  return own >= 0 ? own : widest(places);
}

/** The mean length of texts that may be names; 0 if most of them have no word, or are the same. */
function widthOf(cells) {
  const words = cells.filter((cell) => /\p{L}{3}|\p{Lo}{2}/u.test(cell));
  if (2 * words.length <= cells.length || 2 * new Set(words).size <= words.length) return 0;
  return words.reduce((sum, cell) => sum + cell.length, 0) / words.length;
}

/** The text without accents, and with one spelling of `ü` and `ue`. */
const plain = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase().replace(/([aou])e/g, "$1").replace(/ß/g, "ss");

/** Between words: signs and blanks, or a change between Latin letters and those of a script without blanks. */
const SEAMS = /[^\p{L}\p{N}]+|(?<=\p{Script=Latin})(?=\p{Lo})|(?<=\p{Lo}|ー)(?=\p{Script=Latin})/u;

function wordsOf(text) {
  const all = plain(text).split(SEAMS).filter(Boolean);
  return all.filter((word) => word.length > 1 && !COMMON.has(word) && !/^\d+$/.test(word));
}

/** Whether one word begins the other, or both begin alike: names are abbreviated in many ways. */
function isAlike(one, other) {
  const length = Math.min(one.length, other.length);
  return one === other || (length > 2 && one.slice(0, Math.min(length, 4)) === other.slice(0, Math.min(length, 4)));
}

/**
 * Whether the name in the list and the found security have no word in common. False when there is
 * nothing to compare, as between Japanese and Latin letters.
 */
export function isOtherName(own, { name, ticker, securityDescription }) {
  const words = wordsOf(own);
  const found = [name, ticker, securityDescription].flatMap((text) => wordsOf(text ?? ""));
  const isLatin = (some) => some.some((word) => /\p{Script=Latin}/u.test(word));
  const ofName = wordsOf(name ?? "");
  if (!words.length || !ofName.length || isLatin(words) !== isLatin(ofName)) return false;
  const joined = (some) => some.join("").slice(0, 5);
  return joined(words) !== joined(ofName) && !words.some((word) => found.some((other) => isAlike(word, other)));
}
