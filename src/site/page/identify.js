// Recognises the kind of an identifier by its form and check digit. When several kinds are
// possible, all are returned, the likeliest first; a wrong check digit is reported with the right
// one. No request is made.

/** The kinds to choose from, by their idType. */
export const KINDS = {
  ID_ISIN: "ISIN",
  ID_CUSIP: "CUSIP",
  ID_CINS: "CINS",
  ID_CUSIP_8_CHR: "CUSIP, 8 characters",
  ID_SEDOL: "SEDOL",
  ID_BB_GLOBAL: "FIGI",
  COMPOSITE_ID_BB_GLOBAL: "Composite FIGI",
  ID_BB_GLOBAL_SHARE_CLASS_LEVEL: "Share class FIGI",
  OCC_SYMBOL: "OCC option symbol",
  ID_COMMON: "Common code",
  ID_WERTPAPIER: "WKN",
  ID_ITALY: "Italian code",
  TICKER: "Ticker",
  ID_BB_UNIQUE: "Unique ID",
  UNIQUE_ID_FUT_OPT: "Unique ID of a future or option",
  ID_BB: "Legacy identifier",
  ID_BB_8_CHR: "Legacy identifier, 8 characters",
  ID_FULL_EXCHANGE_SYMBOL: "Full exchange symbol",
  OPRA_SYMBOL: "OPRA symbol",
  TRADING_SYSTEM_IDENTIFIER: "Trading system identifier",
  ID_SHORT_CODE: "Short code",
  VENDOR_INDEX_CODE: "Vendor index code",
  ID_TRACE: "TRACE symbol",
  ID_BB_SEC_NUM_DES: "Ticker, coupon and maturity",
};

const FIGI = ["ID_BB_GLOBAL", "COMPOSITE_ID_BB_GLOBAL", "ID_BB_GLOBAL_SHARE_CLASS_LEVEL"];
const SPREADSHEET = /^\d(?:[.,]\d+)?E\+?\d+$/i;

/**
 * @returns {{value: string, kinds: string[], sure: boolean, form: string, fault: string,
 *   narrowed?: {value: string, filter: object}}}
 * `kinds[0]` is the proposal; `form` names the group of similar identifiers; `fault` is the fault
 * of the value as that kind, or ""; `narrowed` is the ticker without the words after it, and those
 * words as filters.
 */
export function identify(text) {
  const raw = text.trim();
  const value = raw.toUpperCase();
  const reading = (form, kinds, sure, fault = "", as = value) => ({ value: as, kinds, sure, form, fault });

  const option = /^([A-Z0-9./]{1,6}) *(\d{6}[CP]\d{8})$/.exec(value);
  if (option && (value.length === 21 || !value.includes(" "))) {
    return reading("OCC option symbol", ["OCC_SYMBOL"], true, "", option[1].padEnd(6) + option[2]);
  }
  if (/^[A-Z]{2}[A-Z0-9]{9}[0-9]$/.test(value)) return twelve(value, reading);
  if (/^[0-9A-Z*@#]{8}[0-9]$/.test(value)) return nine(value, raw, reading);
  if (/^[0-9]{3}[0-9A-Z*@#]{5}$/.test(value)) {
    return reading("8 characters", ["ID_CUSIP_8_CHR", "TICKER", "ID_BB_8_CHR", "ID_BB"], /^[0-9]{8}$/.test(value) || /[A-Z]/.test(value.slice(3)));
  }
  if (/^[0-9B-DF-HJ-NP-TV-Z]{6}[0-9]$/.test(value) && /[0-9]/.test(value.slice(0, 6))) {
    const right = sedolDigit(value);
    if (value[6] === right) return reading("SEDOL", ["ID_SEDOL", "TICKER"], true);
    if (/^[0-9B][0-9A-Z]{6}$/.test(value)) {
      return reading("7 characters, not a SEDOL", ["TICKER", "ID_SEDOL"], false, wrongDigit("SEDOL", right, value));
    }
  }
  if (/^[0-9]{6}$/.test(value)) return reading("6 digits", ["ID_WERTPAPIER", "TICKER", "ID_ITALY"], false);
  if (/^[0-9]{5}$/.test(value)) return reading("5 digits", ["ID_ITALY", "TICKER"], false);
  if (/^[0-9A-HJ-NP-Z]{6}$/.test(value)) {
    return /[0-9]/.test(value)
      ? reading("6 characters with digits", ["ID_WERTPAPIER", "TICKER"], false)
      : reading("6 letters", ["TICKER", "ID_WERTPAPIER"], false);
  }
  const narrowed = narrow(raw);
  if (narrowed) return { ...reading(narrowed.form, ["TICKER", "ID_BB"], true, "", raw), narrowed };
  if (SPREADSHEET.test(value)) {
    return reading("Rounded by a spreadsheet", ["TICKER"], false,
      "A spreadsheet has rounded this number, and its digits are lost. Format the column as text before exporting it.", raw);
  }
  if (raw.length > 64) return reading("Too long", ["TICKER"], false, "An identifier has at most 64 characters.", raw);
  return reading("Ticker", ["TICKER", "ID_BB", "ID_SHORT_CODE", "ID_FULL_EXCHANGE_SYMBOL", "VENDOR_INDEX_CODE"], true, "", raw);
}

const SECTORS = ["Comdty", "Corp", "Curncy", "Equity", "Govt", "Index", "M-Mkt", "Mtge", "Muni", "Pfd"];

/** `IBM US Equity`, as terminals write it: a ticker, an exchange code and a market sector. */
function narrow(raw) {
  const words = raw.split(/\s+/);
  const filter = {};
  const sector = SECTORS.find((name) => name.toLowerCase() === words.at(-1).toLowerCase());
  if (sector && words.length > 1) {
    filter.marketSecDes = sector;
    words.pop();
  }
  if (words.length === 2 && /^[A-Z]{2}$/.test(words[1]) && (!sector || sector === "Equity")) filter.exchCode = words.pop();
  if (!Object.keys(filter).length) return null;
  const parts = ["Ticker", filter.exchCode && "exchange code", filter.marketSecDes && "market sector"].filter(Boolean);
  return { form: parts.join(", "), value: words.join(" "), filter };
}

function twelve(value, reading) {
  // No FIGI in use has one of these prefixes: the standard reserves them, because they look like
  // the code of a country. The server accepts them all the same (contract 5.9).
  const isFigi = FIGI_SHAPE.form.test(value) && !/^(BS|BM|GG|GB|GH|KY|VG)/.test(value);
  const figiDigit = doubleAddDouble(value.slice(0, 11));
  const isinDigit = luhn(value.slice(0, 11));
  const isIsin = value[11] === isinDigit;
  if (isFigi && value[11] === figiDigit) {
    // By chance the other check digit is right too for one value in ten. With the prefixes in use,
    // the value is read as a FIGI all the same.
    return isIsin && !/^(BBG|KKG)/.test(value) ? reading("ISIN or FIGI", ["ID_ISIN", ...FIGI], false) : reading("FIGI", FIGI, true);
  }
  if (isIsin) return reading("ISIN", ["ID_ISIN"], true);
  return isFigi && value.startsWith("BBG")
    ? reading("FIGI, wrong check digit", [...FIGI, "TICKER"], false, wrongDigit("FIGI", figiDigit, value))
    : reading("ISIN, wrong check digit", ["ID_ISIN", "TICKER"], false, wrongDigit("ISIN", isinDigit, value));
}

function nine(value, raw, reading) {
  const right = doubleAddDouble(value.slice(0, 8));
  const isCusip = value[8] === right;
  if (/^[0-9]{9}$/.test(value)) {
    return isCusip
      ? reading("CUSIP", ["ID_CUSIP", "ID_COMMON"], true)
      : reading("9 digits, not a CUSIP", ["ID_COMMON", "ID_CUSIP"], false);
  }
  if (isCusip) {
    return /^[A-Z]/.test(value) ? reading("CINS", ["ID_CINS", "ID_CUSIP", "TICKER"], true) : reading("CUSIP", ["ID_CUSIP"], true);
  }
  if (/[0-9].*[0-9].*[0-9].*[0-9]/.test(value)) {
    return reading("CUSIP, wrong check digit", ["ID_CUSIP", "TICKER"], false, wrongDigit("CUSIP", right, value));
  }
  return reading("Ticker", ["TICKER"], true, "", raw);
}

const wrongDigit = (kind, right, value) => `As a valid ${kind}, its check digit should be ${right}, not ${value.at(-1)}.`;

/** The fault in the form of `value` as an identifier of this kind, or "". */
export function faultAs(kind, value) {
  const text = value.toUpperCase();
  const shape = SHAPES[kind];
  if (!shape) return text.length > 64 ? "An identifier has at most 64 characters." : "";
  if (!shape.form.test(text)) return shape.words;
  const right = shape.digit?.(text);
  return right !== undefined && right !== text.at(-1) ? wrongDigit(KINDS[kind], right, text) : "";
}

const FIGI_SHAPE = {
  form: /^[B-DF-HJ-NP-TV-Z]{2}G[0-9B-DF-HJ-NP-TV-Z]{8}[0-9]$/,
  words: "A FIGI has 12 characters: two consonants, G, eight consonants or digits, and a check digit.",
  digit: (text) => doubleAddDouble(text.slice(0, 11)),
};
const SHAPES = {
  ID_ISIN: { form: /^[A-Z]{2}[A-Z0-9]{9}[0-9]$/, words: "An ISIN has two letters, nine letters or digits, and a check digit.", digit: (text) => luhn(text.slice(0, 11)) },
  ID_CUSIP: { form: /^[0-9A-Z*@#]{8}[0-9]$/, words: "A CUSIP has eight characters and a check digit.", digit: (text) => doubleAddDouble(text.slice(0, 8)) },
  ID_CINS: { form: /^[A-Z][0-9A-Z*@#]{7}[0-9]$/, words: "A CINS has a letter, seven characters and a check digit.", digit: (text) => doubleAddDouble(text.slice(0, 8)) },
  ID_CUSIP_8_CHR: { form: /^[0-9A-Z*@#]{8}$/, words: "This kind has eight characters." },
  ID_SEDOL: { form: /^[0-9B-DF-HJ-NP-TV-Z]{6}[0-9]$/, words: "A SEDOL has six consonants or digits, and a check digit.", digit: sedolDigit },
  ID_BB_GLOBAL: FIGI_SHAPE,
  COMPOSITE_ID_BB_GLOBAL: FIGI_SHAPE,
  ID_BB_GLOBAL_SHARE_CLASS_LEVEL: FIGI_SHAPE,
  OCC_SYMBOL: { form: /^.{6}\d{6}[CP]\d{8}$/, words: "An OCC symbol has 21 characters: root, date, C or P, and the strike." },
  ID_COMMON: { form: /^\d{9}$/, words: "A common code has nine digits." },
  ID_WERTPAPIER: { form: /^[0-9A-Z]{6}$/, words: "A WKN has six letters or digits." },
  ID_ITALY: { form: /^\d{5,6}$/, words: "An Italian code has five or six digits." },
};

const worth = (character) => {
  const special = "*@#".indexOf(character);
  return special >= 0 ? 36 + special : parseInt(character, 36);
};

/** Check digit of CUSIP, CINS and FIGI: every second character counts twice. */
export function doubleAddDouble(text) {
  let sum = 0;
  [...text].forEach((character, place) => {
    const number = worth(character) * (place % 2 ? 2 : 1);
    sum += Math.floor(number / 10) + (number % 10);
  });
  return String((10 - (sum % 10)) % 10);
}

/** Check digit of an ISIN: letters become two digits, then every second digit from the right counts twice. */
export function luhn(text) {
  const digits = [...text].map((character) => String(worth(character))).join("");
  let sum = 0;
  [...digits].reverse().forEach((digit, place) => {
    const number = Number(digit) * (place % 2 ? 1 : 2);
    sum += number > 9 ? number - 9 : number;
  });
  return String((10 - (sum % 10)) % 10);
}

function sedolDigit(text) {
  const weights = [1, 3, 1, 7, 3, 9];
  const sum = weights.reduce((total, weight, place) => total + weight * worth(text[place]), 0);
  return String((10 - (sum % 10)) % 10);
}
