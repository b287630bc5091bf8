#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/version.h"

namespace lockstep {

/// States that the history table stores. `deleted` rows (marked by repair) and `undone` rows stay for the
/// record but do not count.
namespace row_state {
inline constexpr std::string_view applied = "applied";
inline constexpr std::string_view running = "running";
inline constexpr std::string_view failed = "failed";
inline constexpr std::string_view deleted = "deleted";
inline constexpr std::string_view undone = "undone";
}  // namespace row_state

/// One row of the history table. Times are as the server prints timestamptz in UTC, ISO 8601.
struct HistoryRow {
  std::int64_t rank = 0;
  std::optional<Version> version = std::nullopt;
  std::string description = {};
  std::string kind = {};
  std::string script = {};
  std::string checksum = {};  ///< empty for baselines that were only declared
  std::string state = {};
  std::string installed_by = {};
  std::string started_at = {};
  std::string finished_at = {};
  std::int64_t duration_ms = 0;
  std::int64_t statements_done = 0;
  std::string tool_version = {};
  /// Of a statement that was running, if its end was never noted: "sha256:<hex>" up to and with it.
  std::string intent = {};

  /// False for rows that are kept only for the record.
  bool counts() const { return state != row_state::deleted && state != row_state::undone; }
};

}  // namespace lockstep
