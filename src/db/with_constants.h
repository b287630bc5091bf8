#pragma once

#include <string>

#include "db/session.h"

namespace lockstep::db {

/// The query with its parameters in place, for the simple protocol and for people. A parameter is a dollar
/// sign and digits; our own SQL has no other use for these.
std::string with_constants(const Query& query);

}  // namespace lockstep::db
