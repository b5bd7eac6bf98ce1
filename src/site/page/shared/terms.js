// The terms of an option or a bond. They are read from its ticker and description, because a result
// row has no fields for them: `A US 07/18/09 P12.5` is a put, `IBM 8 3/8 11/01/19` has a coupon of
// 8 3/8.

const DAY = String.raw`(\d\d)\/(\d\d)\/(\d{4}|\d\d)\b`;
const OPTION = new RegExp(`^(.+?) ${DAY} ([CP])(\\d*\\.?\\d+)$`);
const BOND = new RegExp(` (?:(\\d+(?:\\.\\d+)?(?: \\d+\\/\\d+)?) )?(?:\\S+ )?(?:${DAY}|PERP\\b)`);

const DEBT = new Set(["Corp", "Govt", "Muni", "Pfd"]);

/** Two digits are a year from 1980 to 2079: the data write later years with four digits. */
function day(month, date, year) {
  const whole = year.length === 4 ? year : `${Number(year) < 80 ? "20" : "19"}${year}`;
  return `${whole}-${month}-${date}`;
}

/** `{underlying, right, strike, last}` of an option, or null. */
export function optionTerms(row) {
  if (row.securityType2 !== "Option") return null;
  const parts = OPTION.exec(row.ticker ?? "") ?? OPTION.exec(row.securityDescription ?? "");
  if (!parts) return null;
  const [, underlying, month, date, year, right, strike] = parts;
  return { underlying, right: right === "C" ? "Call" : "Put", strike: Number(strike), last: day(month, date, year) };
}

function bondTerms(row) {
  if (!DEBT.has(row.marketSector)) return null;
  // The description is abbreviated less often than the ticker.
  const parts = [row.securityDescription, row.ticker].map((text) => BOND.exec(text ?? "")).find(Boolean);
  if (!parts) return null;
  const [, coupon, month, date, year] = parts;
  return { coupon: coupon ?? "", last: month ? day(month, date, year) : "perpetual" };
}

/** `5 7/8` as a number; "" of an empty text. */
function decimal(coupon) {
  const [whole, fraction = "0/1"] = coupon.split(" ");
  const [above, below] = fraction.split("/");
  return coupon && Number(whole) + Number(above) / Number(below);
}

/**
 * The terms of an option or a bond; null for other instruments, and if they cannot be read. `kind`;
 * `rate`, the strike or the coupon as a text ("" without one); `by`, the same as a number for
 * sorting; `last`, the last day or `perpetual`; and `text`, all of it.
 */
export function terms(row) {
  const of = (kind, rate, by, last) => ({ kind, rate, by, last, text: [rate, last].filter(Boolean).join(" · ") });
  const option = optionTerms(row);
  if (option) return of("option", `${option.right} ${option.strike}`, option.strike, option.last);
  const bond = bondTerms(row);
  return bond && of("bond", bond.coupon && `${bond.coupon} %`, decimal(bond.coupon), bond.last);
}
