"""What a terminal obeys instead of showing it, and what makes a text look different from what it is."""
import re

# C0 but tab and newline, DEL, C1, the marks of direction and of lines and paragraphs, the byte order mark; lone surrogates
# stand for bytes that are no UTF-8.
UNSAFE = re.compile('[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]')


def unsafe(text):
    return UNSAFE.findall(text)
