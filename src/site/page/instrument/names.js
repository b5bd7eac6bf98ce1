// The names of what is known of an instrument: its attributes and its identifiers.

import { KINDS } from "../shared/kinds.js";

/** The attributes in their order, with their members in an answer. */
export const FACTS = [
  ["Name", "name"], ["Description", "securityDescription"], ["Ticker", "ticker"], ["Exchange code", "exchCode"],
  ["MIC", "micCode"], ["Currency", "currency"], ["State code", "stateCode"], ["Market sector", "marketSector"],
  ["Security type", "securityType"], ["Security type 2", "securityType2"], ["Put or call", "optionType"],
  ["Strike", "strike"], ["Expiration", "expiration"], ["Contract size", "contractSize"], ["Coupon, %", "coupon"],
  ["Maturity", "maturity"],
];

/** The identifiers by their idTypes, in their order. */
export const NAMES = { ...KINDS, ID_EXCH_SYMBOL: "Exchange symbol", BASE_TICKER: "Base ticker", ID_CUSIP_8_CHR: "CUSIP, 8 characters" };
