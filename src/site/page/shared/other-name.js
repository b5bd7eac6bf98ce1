// The name by which a suggestion was found, if that is not the name of the row (contract 16.16).

/** `formerly FACEBOOK INC`, `brand iPhone`, `also GOOGLE`. */
export function otherName({ kind, name }) {
  return `${{ former: "formerly", brand: "brand" }[kind] ?? "also"} ${name}`;
}
