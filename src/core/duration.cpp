#include "core/duration.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace lockstep {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t milliseconds;
};

constexpr Unit units[] = {{"h", 3'600'000}, {"m", 60'000}, {"s", 1'000}, {"ms", 1}};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::string_view take_while(std::string_view& text, bool digits) {
  const auto end = std::find_if(text.begin(), text.end(), [digits](char c) { return is_digit(c) != digits; });
  const auto taken = text.substr(0, static_cast<std::size_t>(end - text.begin()));
  text.remove_prefix(taken.size());
  return taken;
}

/// `total` + `digits` * `unit`, unless that leaves 64 bits.
std::optional<std::int64_t> add(std::int64_t total, std::string_view digits, std::int64_t unit) {
  constexpr auto highest = std::numeric_limits<std::int64_t>::max();
  std::int64_t number = 0;
  for (const char c : digits) {
    const std::int64_t digit = c - '0';
    if (number > (highest - digit) / 10) return std::nullopt;
    number = number * 10 + digit;
  }
  if (number > (highest - total) / unit) return std::nullopt;
  return total + number * unit;
}

}  // namespace

std::optional<Milliseconds> parse_duration(std::string_view text) {
  if (text == "0") return Milliseconds{0};
  if (text.empty()) return std::nullopt;
  std::int64_t total = 0;
  const Unit* next = std::begin(units);
  while (!text.empty()) {
    const auto digits = take_while(text, true);
    const auto name = take_while(text, false);
    const auto* unit = std::find_if(next, std::end(units), [name](const Unit& u) { return u.name == name; });
    if (digits.empty() || unit == std::end(units)) return std::nullopt;
    const auto sum = add(total, digits, unit->milliseconds);
    if (!sum) return std::nullopt;
    total = *sum;
    next = unit + 1;
  }
  return Milliseconds{total};
}

std::string to_string(Milliseconds duration) {
  std::string text;
  auto rest = duration.count();
  for (const auto& unit : units) {
    if (rest < unit.milliseconds) continue;
    text += fmt::format("{}{}", rest / unit.milliseconds, unit.name);
    rest %= unit.milliseconds;
  }
  return text.empty() ? "0" : text;
}

std::string human(Milliseconds duration) {
  const auto ms = duration.count();
  if (ms < 1000) return fmt::format("{} ms", ms);
  if (const auto tenths = (ms + 50) / 100; tenths < 600) {
    return fmt::format("{}.{} s", tenths / 10, tenths % 10);
  }
  const auto seconds = (ms + 500) / 1000;
  if (seconds < 3600) return fmt::format("{} m {:02} s", seconds / 60, seconds % 60);
  const auto minutes = (seconds + 30) / 60;
  return fmt::format("{} h {:02} m", minutes / 60, minutes % 60);
}

}  // namespace lockstep
