#pragma once

#include <vector>

#include "core/plan.h"

namespace lockstep {

enum class Strictness { normal, strict };

/// Everything that is wrong between files and history. Strict also minds a database that is newer than the
/// files, and repeatables whose file is gone.
std::vector<Error> validate(const Plan& plan, Strictness strictness);

}  // namespace lockstep
