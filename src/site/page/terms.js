// The terms of an option or a bond, read from its ticker and description, because a row of results
// has no others: `A US 07/18/09 P12.5` is a put, `IBM 8 3/8 11/01/19` has a coupon of 8 3/8.

const DAY = String.raw`(\d\d)\/(\d\d)\/(\d{4}|\d\d)\b`;
const OPTION = new RegExp(`^(.+?) ${DAY} ([CP])(\\d*\\.?\\d+)$`);
const BOND = new RegExp(` (?:(\\d+(?:\\.\\d+)?(?: \\d+\\/\\d+)?) )?(?:\\S+ )?(?:${DAY}|PERP\\b)`);

const DEBT = new Set(["Corp", "Govt", "Muni", "Pfd"]);

/** Two digits are a year from 1980 to 2079: the data write later years in full. */
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
  // The description is less often abbreviated than the ticker.
  const parts = [row.securityDescription, row.ticker].map((text) => BOND.exec(text ?? "")).find(Boolean);
  if (!parts) return null;
  const [, coupon, month, date, year] = parts;
  return { coupon: coupon ?? "", last: month ? day(month, date, year) : "perpetual" };
}

/** The terms as a text, and a key that orders them by day; null for other instruments. */
export function terms(row) {
  const option = optionTerms(row);
  if (option) {
    const { right, strike, last } = option;
    return { text: `${right} ${strike} · ${last}`, order: `${last} ${String(strike).padStart(12)} ${right}` };
  }
  const bond = bondTerms(row);
  return bond && { text: [bond.coupon && `${bond.coupon} %`, bond.last].filter(Boolean).join(" · "), order: bond.last };
}
