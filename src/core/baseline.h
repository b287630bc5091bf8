#pragma once

#include <string_view>

#include "core/database.h"
#include "core/lock.h"

namespace lockstep {

enum class BaselineOutcome { recorded, already_there };

/// Declares that the database already is at `version`: nothing up to it will ever run. The history must be
/// empty, or hold just this baseline. Throws Failure otherwise.
BaselineOutcome baseline(Database& database, const Version& version, std::string_view description,
                         const LockPolicy& policy, Reporter& reporter);

}  // namespace lockstep
