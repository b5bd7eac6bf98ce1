// The names of the kinds of identifiers, for people. The server recognises them.

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

/** The name of a kind; the idType itself when it is not in the table. */
export const kindName = (idType) => KINDS[idType] ?? idType;

/** A sentence of the server, such as `ID_ISIN: the check digit should be 4`, with the name of the kind. */
export const inWords = (sentence) => sentence.replace(/^([A-Z][A-Z0-9_]+): /, (whole, idType) => (KINDS[idType] ? `${KINDS[idType]}: ` : whole));
