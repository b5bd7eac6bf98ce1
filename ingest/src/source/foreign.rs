//! Files that people mistake for dumps or tables. They are recognised and reported with advice,
//! instead of being read as text.

/// A beginning of a file, and the advice for it.
type Sign = (&'static [u8], &'static str);

const SPREADSHEET: &str =
    "this is a spreadsheet: save the sheet as CSV (UTF-8), and give that file";
const ARCHIVE: &str = "this is a zip archive: unpack it, and give the files in it";
const UTF_32: &str = "this is UTF-32 text: save it as UTF-8 (iconv -f UTF-32 -t UTF-8)";

const SIGNS: [Sign; 9] = [
    (b"PK\x05\x06", ARCHIVE),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", SPREADSHEET),
    (b"\xff\xfe\x00\x00", UTF_32),
    (b"\x00\x00\xfe\xff", UTF_32),
    (b"7z\xbc\xaf\x27\x1c", "this is a 7z archive: unpack it, and give the files in it"),
    (b"Rar!\x1a\x07", "this is a rar archive: unpack it, and give the files in it"),
    (b"\xfd7zXZ\x00", "this is compressed with xz: unpack it, or pipe it in (xz -dc FILE | … -)"),
    (b"%PDF-", "this is a PDF: export the table as CSV (UTF-8), and give that file"),
    (b"SQLite format 3\x00", "this is an SQLite database: export the table as CSV (UTF-8)"),
];

/// The advice for a file that begins with these bytes; `None` when it may be text or Parquet.
pub(crate) fn advice(head: &[u8]) -> Option<&'static str> {
    if head.starts_with(b"PK\x03\x04") {
        let has = |name: &[u8]| head.windows(name.len()).any(|window| window == name);
        let of_office = [&b"[Content_Types].xml"[..], b"xl/", b"mimetypeapplication/"];
        let is_sheet = of_office.into_iter().any(has);
        return Some(if is_sheet { SPREADSHEET } else { ARCHIVE });
    }
    SIGNS.iter().find(|(sign, _)| head.starts_with(sign)).map(|(_, advice)| *advice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_other_programs() {
        for (head, expected) in [
            (&b"PK\x03\x04\x14\0\x06\0\x08\0[Content_Types].xml"[..], Some(SPREADSHEET)),
            (b"PK\x03\x04\0\0\0\0mimetypeapplication/vnd.oasis.opendocument", Some(SPREADSHEET)),
            (b"PK\x03\x04\x14\0dump.csv", Some(ARCHIVE)),
            (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0", Some(SPREADSHEET)),
            (b"\xff\xfe\0\0f\0\0\0", Some(UTF_32)),
            (b"\xff\xfef\0i\0", None),
            (b"PKI,figi\n", None),
            (b"figi,ticker\n", None),
            (b"PAR1", None),
            (b"", None),
        ] {
            assert_eq!(advice(head), expected, "{head:?}");
        }
    }
}
