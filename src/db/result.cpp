#include "db/result.h"

#include <fmt/format.h>

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
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", int(date.year()), unsigned(date.month()),
                     unsigned(date.day()), clock.hours().count(), clock.minutes().count(),
                     clock.seconds().count(), clock.subseconds().count());
}

}  // namespace lockstep::db
