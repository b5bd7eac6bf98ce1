// Words for rows as they were, and for the days on which they were so. Days have the form 2022-06-08.

/** The days of a row: `2012-05-18 – 2022-06-08`, `2022-06-09 – today`; "" if neither is known. */
export function spanOf({ validFrom, validTo }, isOpen = false) {
  if (validFrom && validTo) return validFrom === validTo ? validFrom : `${validFrom} – ${validTo}`;
  if (validFrom) return isOpen ? `${validFrom} – today` : `since ${validFrom}`;
  return validTo ? `until ${validTo}` : "";
}

/** A row in few words: its ticker and exchange, or else its name. */
export const briefly = ({ ticker, exchCode, name }) => (ticker ? [ticker, exchCode].filter(Boolean).join(" ") : name ?? "");

/** The days that the past covers, in a sentence. */
export const coverageOf = ({ since, until }) => `The past is known from ${since} to ${until}.`;
