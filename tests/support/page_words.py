"""page_words.py TEXT PAGE: whether the page says what the text says, word for word and in its order,
among what only a page says. Names the first word that is missing."""

import re
import sys
from html.parser import HTMLParser


class Page(HTMLParser):
    """Collects what is read: neither style nor script, nor the names of boxes in pictures."""

    def __init__(self):
        super().__init__()
        self.words, self.unread = [], 0

    def handle_starttag(self, tag, attrs):
        self.unread += tag in ("style", "script", "svg")

    def handle_endtag(self, tag):
        self.unread -= tag in ("style", "script", "svg")

    def handle_data(self, data):
        if not self.unread:
            self.words += words(data)


def words(text):
    return [w for w in (re.sub(":$", "", w) for w in text.split()) if w not in ("", "--")]


def main():
    page = Page()
    with open(sys.argv[2], encoding="utf-8") as f:
        page.feed(f.read())
    page.close()
    said = iter(page.words)
    with open(sys.argv[1], encoding="utf-8") as f:
        for n, line in enumerate(f, 1):
            for word in words(line):
                if word not in said:
                    sys.exit(f"line {n} of the text: the page lacks '{word}'")


main()
