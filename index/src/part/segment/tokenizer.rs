//! The tokenizer of the fields with the words of a row.

use tantivy::tokenizer::{Token, TokenStream, Tokenizer};

use crate::words::for_each_term;

/// The tokenizer's name in the schema.
pub(crate) const WORDS: &str = "words";

/// Cuts a text into the terms of its words.
#[derive(Clone, Default)]
pub(crate) struct WordTokenizer(TermBuffer);

/// The terms of one text, one after the other. The buffer is used again for each text.
#[derive(Clone, Default)]
pub(crate) struct TermBuffer {
    buffer: String,
    /// The end of each term, which is the start of the next.
    ends: Vec<usize>,
    next: usize,
    token: Token,
}

impl Tokenizer for WordTokenizer {
    type TokenStream<'a> = &'a mut TermBuffer;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> &'a mut TermBuffer {
        let terms = &mut self.0;
        terms.buffer.clear();
        terms.ends.clear();
        terms.next = 0;
        terms.token.reset();
        for_each_term(text, |term| {
            terms.buffer.push_str(term);
            terms.ends.push(terms.buffer.len());
        });
        terms
    }
}

impl TokenStream for &mut TermBuffer {
    fn advance(&mut self) -> bool {
        let Some(&end) = self.ends.get(self.next) else { return false };
        let start = self.next.checked_sub(1).map_or(0, |before| self.ends[before]);
        self.token.text.clear();
        self.token.text.push_str(&self.buffer[start..end]);
        self.token.position = self.next;
        self.next += 1;
        true
    }

    fn token(&self) -> &Token {
        &self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.token
    }
}
