// Folds rows by security. Rows with the same share class are one security. Of the rows without a
// share class, those with the same composite are one. Any other row is a separate security. The
// first row in the answer's order represents its security.

const keyOf = (row) => row.shareClassFIGI ?? row.compositeFIGI ?? row.figi;

/** Adds rows to `securities`, a map from key to `{rows, isOpen}` in the answer's order. */
export function fold(securities, rows) {
  for (const row of rows) {
    const key = keyOf(row);
    const security = securities.get(key);
    if (security) security.rows.push(row);
    else securities.set(key, { rows: [row], isOpen: false });
  }
}
