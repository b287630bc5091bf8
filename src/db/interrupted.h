#pragma once

namespace lockstep::db {

/// Throws the failure that SIGINT or SIGTERM asks for, if there was one.
void throw_if_interrupted();

}  // namespace lockstep::db
