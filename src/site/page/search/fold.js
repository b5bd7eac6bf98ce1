// Folds rows by security. Rows with the same share class are one security. Of the rows without a
// share class, those with the same composite are one. Any other row is a separate security. The
// first row of a security represents it.

const keyOf = (row) => row.shareClassFIGI ?? row.compositeFIGI ?? row.figi;

/** Adds rows to `securities`, a map from key to `{rows, isOpen}` in the answer's order. */
export function fold(securities, rows) {
  for (const row of rows) {
    const security = securities.get(keyOf(row));
    if (!security) securities.set(keyOf(row), { rows: [row], isOpen: false });
    // The row that represents the security may come again.
    else if (security.rows[0].figi !== row.figi) security.rows.push(row);
  }
}

/**
 * Adds the securities of an answer of `/find` to `securities`, each with its best listing first, and
 * to `guesses`, a map of the same form, those that were guessed. A security that no row of the answer
 * has, such as one that is found by another name, has the number of its `listings`.
 */
export function foldFound(securities, guesses, found) {
  const searched = new Set(found.data.map(keyOf));
  for (const { isGuess, listings, matched, ...row } of found.securities) {
    const key = keyOf(row);
    if (!securities.has(key)) (isGuess ? guesses : securities).set(key, { rows: [row], isOpen: false, listings: isGuess || !searched.has(key) ? listings : undefined });
  }
  fold(securities, found.data);
}
