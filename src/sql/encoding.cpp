#include "sql/encoding.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

namespace lockstep::sql {
namespace {

constexpr std::size_t longest_mark = 5;

struct Range {
  unsigned char low;
  unsigned char high;
};

/// What may follow a first byte: overlong forms, surrogates and what is above U+10FFFF are left out (RFC
/// 3629).
Range second_byte(unsigned char first) {
  switch (first) {
    case 0xE0:
      return {0xA0, 0xBF};
    case 0xED:
      return {0x80, 0x9F};
    case 0xF0:
      return {0x90, 0xBF};
    case 0xF4:
      return {0x80, 0x8F};
    default:
      return {0x80, 0xBF};
  }
}

std::size_t length_of(unsigned char first) {
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return 2;
  if (first >= 0xE0 && first <= 0xEF) return 3;
  if (first >= 0xF0 && first <= 0xF4) return 4;
  return 0;
}

enum class Character { whole, cut, wrong };

Character judge(std::string_view bytes) {
  const auto first = static_cast<unsigned char>(bytes.front());
  const auto length = length_of(first);
  if (length == 0) return Character::wrong;
  for (std::size_t i = 1; i < length; ++i) {
    if (i == bytes.size()) return Character::cut;
    const auto byte = static_cast<unsigned char>(bytes[i]);
    const auto [low, high] = i == 1 ? second_byte(first) : Range{0x80, 0xBF};
    if (byte < low || byte > high) return Character::wrong;
  }
  return Character::whole;
}

std::size_t skip_ascii(std::string_view bytes, std::size_t at) {
  constexpr std::uint64_t high_bits = 0x8080808080808080U;
  for (std::uint64_t word = 0; at + sizeof word <= bytes.size(); at += sizeof word) {
    std::memcpy(&word, bytes.data() + at, sizeof word);
    if ((word & high_bits) != 0) break;
  }
  while (at < bytes.size() && (bytes[at] & 0x80) == 0) ++at;
  return at;
}

bool starts_utf16(std::string_view bytes) {
  return bytes.starts_with("\xFF\xFE") || bytes.starts_with("\xFE\xFF");
}

}  // namespace

std::size_t find_non_utf8(std::string_view bytes) {
  for (std::size_t at = 0;;) {
    at = skip_ascii(bytes, at);
    if (at == bytes.size()) return std::string_view::npos;
    if (judge(bytes.substr(at)) != Character::whole) return at;
    at += length_of(static_cast<unsigned char>(bytes[at]));
  }
}

void EncodingCheck::watch(std::string_view bytes) {
  if (problem_) return;
  if (head_.size() < longest_mark) {
    head_ += bytes.substr(0, longest_mark - head_.size());
    check_start();
  }
  while (!problem_ && !cut_.empty() && !bytes.empty()) {
    cut_ += bytes.front();
    bytes.remove_prefix(1);
    const auto cut = std::exchange(cut_, {});
    check(cut);
  }
  if (!problem_) check(bytes);
}

void EncodingCheck::finish() {
  if (!problem_ && !cut_.empty()) fail({}, cut_.front());
}

void EncodingCheck::check_start() {
  if (starts_utf16(head_)) {
    problem_ = Problem{"utf16", "the file is UTF-16", "Save it as UTF-8.", {.file = place_.file}};
  } else if (head_ == "PGDMP") {
    problem_ = Problem{"pg_dump_archive",
                       "the file is an archive of pg_dump, not a script",
                       "Make a script of it with pg_restore --file=SCRIPT ARCHIVE.",
                       {.file = place_.file}};
  }
}

void EncodingCheck::check(std::string_view bytes) {
  const auto nul = bytes.find('\0');
  const auto wrong = find_non_utf8(bytes.substr(0, nul));
  const auto bad = std::min(nul, wrong);
  if (bad == std::string_view::npos) return advance(place_, bytes);
  const bool cut =
      bad == wrong && nul == std::string_view::npos && judge(bytes.substr(bad)) == Character::cut;
  if (!cut) return fail(bytes.substr(0, bad), bytes[bad]);
  advance(place_, bytes.substr(0, bad));
  cut_ = bytes.substr(bad);
}

void EncodingCheck::fail(std::string_view before, char byte) {
  advance(place_, before);
  if (place_.line == 1 && head_.starts_with("\xEF\xBB\xBF")) --place_.column;  // no editor shows the mark
  if (byte == '\0') {
    problem_ =
        Problem{"nul_byte", fmt::format("byte {} is NUL, which no text contains", place_.offset),
                "Remove it; if every second byte is NUL, the file is UTF-16: save it as UTF-8.", place_};
    return;
  }
  const auto value = static_cast<unsigned char>(byte);
  problem_ = Problem{"not_utf8", fmt::format("byte {} (0x{:02X}) is not UTF-8", place_.offset, value),
                     "Save the file as UTF-8; one from Windows is often in another encoding.", place_};
}

}  // namespace lockstep::sql
