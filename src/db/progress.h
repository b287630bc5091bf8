#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/plan.h"

namespace lockstep::db {

/// How far a file outside a transaction has come.
struct Progress {
  std::size_t statements = 0;  ///< that are done
  /// "sha256:<hex>" over the texts of the statements that are done; what it is of none does not matter.
  std::string digest = {};
  /// The same with the statement behind them, while that is running or its end was never noted.
  std::string intent = {};
};

/// What an earlier run has left.
Progress progress_before(const Step& step);

/// With one more statement done.
Progress progress_with(const Progress& before, std::string_view statement);

}  // namespace lockstep::db
