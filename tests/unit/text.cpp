#include "core/text.h"

#include <catch2/catch_test_macros.hpp>
#include <clocale>
#include <cwchar>

#include "core/utf8.h"

using namespace lockstep;

namespace {

std::string utf8(char32_t c) {
  std::string text;
  const auto add = [&text](char32_t byte) { text += static_cast<char>(byte); };
  if (c < 0x80) {
    add(c);
  } else if (c < 0x800) {
    add(0xc0 | c >> 6U);
    add(0x80 | (c & 0x3fU));
  } else if (c < 0x10000) {
    add(0xe0 | c >> 12U);
    add(0x80 | (c >> 6U & 0x3fU));
    add(0x80 | (c & 0x3fU));
  } else {
    add(0xf0 | c >> 18U);
    add(0x80 | (c >> 12U & 0x3fU));
    add(0x80 | (c >> 6U & 0x3fU));
    add(0x80 | (c & 0x3fU));
  }
  return text;
}

}  // namespace

TEST_CASE("the caret stands under the character that the column counts") {
  CHECK(caret_indent("select 1", 1).empty());
  CHECK(caret_indent("select 1", 8) == "       ");
  CHECK(caret_indent("é = x", 5) == "    ");
  CHECK(caret_indent("日本 x", 4) == "     ");
  CHECK(caret_indent("e\u0301x", 3) == " ");
  CHECK(caret_indent("😀x", 2) == "  ");
  CHECK(caret_indent("ab", 99) == "  ");
}

TEST_CASE("the caret's indent repeats tabs, so that any tab width lines up") {
  CHECK(caret_indent("\t\tx = y", 3) == "\t\t");
  CHECK(caret_indent("a\tb", 3) == " \t");
}

TEST_CASE("a byte that is no UTF-8 counts as one character") {
  CHECK(caret_indent("\xff\xfex", 3) == "  ");
  CHECK(display_width("\xc3") == 1);
}

TEST_CASE("display width counts terminal columns") {
  CHECK(display_width("") == 0);
  CHECK(display_width("abc") == 3);
  CHECK(display_width("日本語") == 6);
  CHECK(display_width("naïve") == 5);
  CHECK(display_width("e\u0301") == 1);
}

TEST_CASE("character widths agree with the C library's") {
  REQUIRE(std::setlocale(LC_CTYPE, "C.UTF-8") != nullptr);
  std::size_t compared = 0;
  std::size_t different = 0;
  for (char32_t c = 0x20; c < 0x30000; ++c) {
    const int expected = ::wcwidth(static_cast<wchar_t>(c));
    if (expected < 0) continue;
    ++compared;
    if (character_width(c) != static_cast<std::size_t>(expected)) ++different;
  }
  std::setlocale(LC_CTYPE, "C");
  CHECK(compared > 100'000);
  // Hexagrams and old Korean letters are a matter of taste, and each database is of another year.
  CHECK(different < compared / 100);
}

TEST_CASE("every code point is read back from its UTF-8 form") {
  std::size_t wrong = 0;
  for (char32_t c = 0; c <= 0x10ffff; ++c) {
    const auto bytes = utf8(c);
    const auto read = first_character(bytes);
    const bool surrogate = c >= 0xd800 && c < 0xe000;
    const bool right =
        surrogate ? !read.valid : read.valid && read.code_point == c && read.size == bytes.size();
    if (!right) ++wrong;
  }
  CHECK(wrong == 0);
}

TEST_CASE("what is not UTF-8 is told apart") {
  CHECK(is_utf8(""));
  CHECK(is_utf8("Grüße 😀"));
  for (const std::string_view bad :
       {"\x80", "\xc0\x80", "\xc1\xbf", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80",
        "\xf5\x80\x80\x80", "\xc3", "\xe2\x82", "\xf0\x9f\x98", "a\xff"}) {
    CHECK_FALSE(is_utf8(bad));
  }
}

TEST_CASE("lines after the first are indented, empty ones are left alone") {
  CHECK(indent_continuation("one", 4) == "one");
  CHECK(indent_continuation("one\ntwo\n\nthree\n", 2) == "one\n  two\n\n  three\n");
}

TEST_CASE("a typing error finds the word that was meant") {
  const std::vector<std::string_view> words = {"migrate", "validate", "info", "repair", "lock_timeout"};
  CHECK(nearest("migrat", words) == "migrate");
  CHECK(nearest("vaildate", words) == "validate");
  CHECK(nearest("INFO", words) == "info");
  CHECK(nearest("lock-timeout", words) == "lock_timeout");
  CHECK(nearest("inf", words) == "info");
}

TEST_CASE("a word that is like none is given no suggestion") {
  const std::vector<std::string_view> words = {"migrate", "info"};
  CHECK(nearest("drop", words).empty());
  CHECK(nearest("in", words).empty());
  CHECK(nearest("", words).empty());
  CHECK(nearest("info", {}).empty());
}

TEST_CASE("what a terminal would obey is written out") {
  CHECK(printable("tab\tand\nnewline") == "tab\tand\nnewline");
  CHECK(printable("\x1b[31mred") == "\\x1b[31mred");
  CHECK(printable(std::string_view("a\0b", 3)) == "a\\x00b");
  CHECK(printable("a\r\x7f") == "a\\x0d\\x7f");
  CHECK(printable("\xc2\x9b"
                  "31m") == "\\xc2\\x9b31m");
  CHECK(printable("\xff") == "\\xff");
  CHECK(printable("\u202eevil") == "\\xe2\\x80\\xaeevil");
  CHECK(printable("Grüße 😀") == "Grüße 😀");
  CHECK(is_printable("Grüße 😀\t\n"));
  for (const std::string_view bad : {"\x1b", "\r", "\xff", "\u202e", "ok\x7f"})
    CHECK_FALSE(is_printable(bad));
}

TEST_CASE("a name is shown on one line") {
  CHECK(printable_line("new\nline\ttab\x1b") == "new\\x0aline\\x09tab\\x1b");
  CHECK(printable_line("Größe 漢字") == "Größe 漢字");
}

TEST_CASE("a byte that cannot be shown is found wherever it stands") {
  for (std::size_t at = 0; at < 20; ++at) {
    for (unsigned byte = 0; byte < 256; ++byte) {
      std::string text(20, '~');
      text[at] = static_cast<char>(byte);
      const bool shown = (byte >= ' ' && byte <= '~') || byte == '\t' || byte == '\n';
      if (is_printable(text) != shown) FAIL("byte " << byte << " at " << at);
    }
  }
}
