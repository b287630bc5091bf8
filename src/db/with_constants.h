#pragma once

#include <string>

#include "db/session.h"

namespace lockstep::db {

/// The query with its parameters in place, for the simple protocol and for people. A parameter is a dollar
/// sign and digits outside of quotes; there is no other use for a dollar sign in our own SQL.
std::string with_constants(const Query& query);

}  // namespace lockstep::db
