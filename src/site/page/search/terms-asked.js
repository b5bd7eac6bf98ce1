// Terms among the words of a question. `AAPL call 2027 300` and `IBM 2030` find nothing as words,
// because put or call, strike, coupon and dates are filters. Here such words are read as filters.

const OPTION = new Set(["option", "options", "call", "calls", "put", "puts"]);
const RIGHTS = { call: "Call", calls: "Call", put: "Put", puts: "Put" };
const YEAR = /^(?:19|20)\d\d$/;
const DAY = /^(\d\d)\/(\d\d)\/(?:20)?(\d\d)$/;
const STRIKE = /^([CP]?)(\d+(?:\.\d+)?)$/i;
const PERCENT = /^(\d+(?:\.\d+)?)%$/;

/**
 * The words of `question` as `{query, right, isOption, time, strike, coupon}`. `time` and the
 * numbers are intervals, and all members but `query` may be missing. Null without terms, or if no
 * words are left to search for.
 */
function termsIn(question) {
  const found = { rest: [] };
  for (const word of question.query.split(/\s+/)) {
    const lower = word.toLowerCase();
    const day = DAY.exec(word), strike = STRIKE.exec(word), percent = PERCENT.exec(word);
    if (OPTION.has(lower)) {
      found.isOption = true;
      found.right ??= RIGHTS[lower];
    } else if (YEAR.test(word) && !found.time) found.time = [`${word}-01-01`, `${word}-12-31`];
    else if (day && !found.time) found.time = [0, 0].map(() => `20${day[3]}-${day[1]}-${day[2]}`);
    else if (percent && !found.coupon) found.coupon = [percent[1], percent[1]];
    else if (strike && !found.strike) {
      found.strike = [strike[2], strike[2]];
      found.right ??= { C: "Call", P: "Put" }[strike[1].toUpperCase()];
      found.isOption ||= strike[1] !== "";
    } else found.rest.push(word);
  }
  const isRead = found.isOption || found.time || found.coupon;
  return isRead && found.rest.length ? { ...found, query: found.rest.join(" ") } : null;
}

/**
 * The possible meanings of `question`, as lists of questions; in each list the first one that finds
 * something counts. Options come first, then bonds; each with all of its terms, then with fewer.
 * Empty without terms.
 */
export function termsAsked(question) {
  const found = termsIn(question);
  if (!found) return [];
  const { query, right, isOption, time, strike, coupon } = found;
  const asked = (lists, intervals) => ({
    ...question, query, lists: { ...question.lists, ...lists },
    intervals: { ...question.intervals, ...Object.fromEntries(Object.entries(intervals).filter(([, interval]) => interval)) },
  });
  const options = { securityType2: ["Option"], ...(right ? { optionType: [right] } : {}) };
  const fewer = (first, second) => (first && second ? [[first, second], [undefined, second], [first, undefined]] : [[first, second]]);
  return [
    coupon ? [] : [...fewer(strike, time), ...isOption ? [[]] : []].map(([price, expiration]) => asked(options, { strike: price, expiration })),
    isOption ? [] : fewer(coupon ?? strike, time).map(([rate, maturity]) => asked({}, { coupon: rate, maturity })),
  ];
}
