#include "db/result.h"

#include <chrono>

namespace lockstep::db {
namespace {

template <typename Unsigned>
Unsigned big_endian(std::string_view bytes) {
  Unsigned value = 0;
  for (const char byte : bytes.substr(0, sizeof(Unsigned))) {
    value = static_cast<Unsigned>(value << 8) | static_cast<unsigned char>(byte);
  }
  return value;
}

/// Two times for each row of the history: a formatting library is ten times slower.
void put_digits(std::string& text, std::size_t at, std::size_t count, long number) {
  for (auto i = count; i > 0; --i, number /= 10) text[at + i - 1] = static_cast<char>('0' + number % 10);
}

}  // namespace

std::string_view text_at(const PGresult* result, int row, int column) {
  return {PQgetvalue(result, row, column), static_cast<std::size_t>(PQgetlength(result, row, column))};
}

std::int64_t int8_at(const PGresult* result, int row, int column) {
  return static_cast<std::int64_t>(big_endian<std::uint64_t>(text_at(result, row, column)));
}

std::int32_t int4_at(const PGresult* result, int row, int column) {
  return static_cast<std::int32_t>(big_endian<std::uint32_t>(text_at(result, row, column)));
}

bool bool_at(const PGresult* result, int row, int column) {
  return text_at(result, row, column) == std::string_view("\1", 1);
}

std::string time_at(const PGresult* result, int row, int column) {
  if (PQgetisnull(result, row, column)) return {};
  using namespace std::chrono;
  // timestamptz counts microseconds from 2000-01-01.
  const auto since_2000 = microseconds(int8_at(result, row, column));
  const auto time = sys_days(year(2000) / January / 1) + since_2000;
  const auto day = floor<days>(time);
  const year_month_day date(day);
  const hh_mm_ss clock(floor<milliseconds>(time - day));
  std::string text = "0000-00-00T00:00:00.000Z";
  put_digits(text, 0, 4, int(date.year()));
  put_digits(text, 5, 2, unsigned(date.month()));
  put_digits(text, 8, 2, unsigned(date.day()));
  put_digits(text, 11, 2, clock.hours().count());
  put_digits(text, 14, 2, clock.minutes().count());
  put_digits(text, 17, 2, clock.seconds().count());
  put_digits(text, 20, 3, clock.subseconds().count());
  return text;
}

}  // namespace lockstep::db
