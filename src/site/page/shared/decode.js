// The text of a file's bytes, as `figdex map` reads it (`ingest/src/table/encoding.rs`): UTF-8 with
// or without a byte order mark, UTF-16, Shift_JIS, Macintosh or Windows-1252.

const FILE_BYTES_MAX = 64 * 1024 * 1024;
/** The first bytes, from which the encoding is recognised. */
const HEAD_BYTES = 64 * 1024;

/** The names of the encodings for people; UTF-8 needs none. */
export const ENCODINGS = {
  "utf-16le": "UTF-16LE", "utf-16be": "UTF-16BE", shift_jis: "Shift_JIS", macintosh: "Macintosh", "windows-1252": "Windows-1252",
};

/** The text of a file and the encoding it is in. Throws an Error to show. */
export async function readFile(file) {
  if (file.size > FILE_BYTES_MAX) throw new Error("The file is larger than 64 MB. Split it, or use the command figdex map.");
  const bytes = new Uint8Array(await file.arrayBuffer());
  if (bytes[0] === 0x50 && bytes[1] === 0x4b) throw new Error("This is a workbook or an archive. Save the sheet as CSV first, and choose that file.");
  if (bytes[0] === 0xd0 && bytes[1] === 0xcf) throw new Error("This is an old workbook. Save the sheet as CSV first, and choose that file.");
  if (bytes[0] === 0x25 && bytes[1] === 0x50 && bytes[2] === 0x44) throw new Error("This is a PDF file. Choose a text or CSV file with one identifier a line.");
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) throw new Error("This file is compressed. Unpack it first, or use the command figdex map.");
  const read = decoded(bytes);
  if (read.text.slice(0, 2000).includes("\0")) throw new Error("This is not a text file. Choose a text or CSV file with one identifier a line.");
  return read;
}

/** The text of bytes, and its encoding. */
export function decoded(bytes) {
  const encoding = encodingOf(bytes);
  return { text: new TextDecoder(encoding).decode(bytes), encoding };
}

function encodingOf(bytes) {
  const [a, b, c, d] = bytes;
  const isAscii = (byte) => byte > 0 && byte < 0x80;
  if (a === 0xff && b === 0xfe) return "utf-16le";
  if (a === 0xfe && b === 0xff) return "utf-16be";
  if (isAscii(a) && b === 0 && isAscii(c) && d === 0) return "utf-16le";
  if (a === 0 && isAscii(b) && c === 0 && isAscii(d)) return "utf-16be";
  if (isIn("utf-8", bytes)) return "utf-8";
  const head = bytes.subarray(0, HEAD_BYTES);
  return isShiftJis(head) ? "shift_jis" : isMacintosh(head) ? "macintosh" : "windows-1252";
}

function isIn(encoding, bytes) {
  try {
    new TextDecoder(encoding, { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

/**
 * Whether a text is Japanese: all pairs of bytes are valid, and most pairs are next to another one,
 * with first bytes that are signs in Windows-1252, not letters.
 */
function isShiftJis(bytes) {
  let japanese = 0, others = 0, wasPair = false, at = 0;
  while (at < bytes.length) {
    const first = bytes[at++];
    let isPair = false;
    if (first === 0x80 || first === 0xa0 || first >= 0xf0) return false;
    if ((first > 0x80 && first < 0xa0) || first >= 0xe0) {
      if (at === bytes.length) {
        if (bytes.length === HEAD_BYTES) at -= 1; // the end of the head cuts this character
        break;
      }
      const second = bytes[at++];
      if (second < 0x40 || second === 0x7f || second > 0xfc) return false;
      isPair = first < 0xa0;
      if (isPair && wasPair) japanese += 1;
      if (!isPair) others += 1;
    }
    wasPair = isPair;
  }
  return japanese > others && isIn("shift_jis", bytes.subarray(0, at));
}

/**
 * Whether a text is of an old Macintosh: more of its letters would be signs in the middle of a word
 * in Windows-1252 than the other way round.
 */
function isMacintosh(bytes) {
  let own = 0, others = 0;
  for (let at = 1; at < bytes.length; at += 1) {
    const before = bytes[at - 1] | 0x20, byte = bytes[at];
    if (before < 0x61 || before > 0x7a) continue;
    if ((byte >= 0x81 && byte <= 0x84) || (byte >= 0x88 && byte <= 0x90) || byte === 0x95 || byte === 0x98 || (byte >= 0x9a && byte <= 0x9f)) own += 1;
    else if (byte >= 0xc0) others += 1;
  }
  return own > others;
}
