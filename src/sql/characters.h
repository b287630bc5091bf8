#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace lockstep::sql {

/// Classes of bytes as PostgreSQL's scanner (scan.l, psqlscan.l) has them. Bytes above 0x7f are letters.
enum class ByteClass : std::uint8_t {
  plain,  ///< part of an operator, a bracket, a comma: nothing that starts or ends anything longer
  blank,
  digit,   // from here
  letter,  // two classes make a dollar quote's tag
  dollar,  // and three a word
  quote,
  double_quote,
  dash,
  slash,
  backslash,
  open,
  close,
  semicolon,
  nul,
};

namespace detail {

constexpr ByteClass class_of_byte(unsigned byte) {
  if ((byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte == '_' || byte >= 0x80) {
    return ByteClass::letter;
  }
  if (byte >= '0' && byte <= '9') return ByteClass::digit;
  switch (byte) {
    case ' ':
    case '\t':
    case '\n':
    case '\r':
    case '\f':
    case '\v':
      return ByteClass::blank;
    case '\'':
      return ByteClass::quote;
    case '"':
      return ByteClass::double_quote;
    case '$':
      return ByteClass::dollar;
    case '-':
      return ByteClass::dash;
    case '/':
      return ByteClass::slash;
    case '\\':
      return ByteClass::backslash;
    case '(':
      return ByteClass::open;
    case ')':
      return ByteClass::close;
    case ';':
      return ByteClass::semicolon;
    case '\0':
      return ByteClass::nul;
    default:
      return ByteClass::plain;
  }
}

constexpr std::array<ByteClass, 256> make_classes() {
  std::array<ByteClass, 256> classes{};
  for (unsigned byte = 0; byte < 256; ++byte) classes[byte] = class_of_byte(byte);
  return classes;
}

inline constexpr std::array<ByteClass, 256> classes = make_classes();

}  // namespace detail

constexpr ByteClass class_of(char byte) {
  return detail::classes[static_cast<unsigned char>(byte)];
}

constexpr bool is_blank(char byte) {
  return class_of(byte) == ByteClass::blank;
}
constexpr bool is_digit(char byte) {
  return class_of(byte) == ByteClass::digit;
}
constexpr bool starts_word(char byte) {
  return class_of(byte) == ByteClass::letter;
}
/// May stand in a dollar quote's tag behind the first letter.
constexpr bool continues_tag(char byte) {
  return class_of(byte) >= ByteClass::digit && class_of(byte) <= ByteClass::letter;
}
constexpr bool continues_word(char byte) {
  return class_of(byte) >= ByteClass::digit && class_of(byte) <= ByteClass::dollar;
}
/// Needs no look at its neighbours once a statement's head has been read.
constexpr bool is_skippable(char byte) {
  return class_of(byte) <= ByteClass::digit;
}

constexpr bool is_ascii_letter(char byte) {
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
}
constexpr char to_upper(char byte) {
  return byte >= 'a' && byte <= 'z' ? static_cast<char>(byte & ~0x20) : byte;
}
constexpr char to_lower(char byte) {
  return byte >= 'A' && byte <= 'Z' ? static_cast<char>(byte | 0x20) : byte;
}

/// Without the blanks around it.
constexpr std::string_view trim(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

/// Compares without regard to the case of ASCII letters, as SQL does with keywords. `lower` is in lower case.
constexpr bool same_word(std::string_view word, std::string_view lower) {
  if (word.size() != lower.size()) return false;
  for (std::size_t i = 0; i < word.size(); ++i) {
    if (to_lower(word[i]) != lower[i]) return false;
  }
  return true;
}

}  // namespace lockstep::sql
