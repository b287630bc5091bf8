#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "core/database.h"
#include "core/migration.h"
#include "core/session_options.h"
#include "db/interrupted.h"
#include "sql/source.h"

namespace lockstep::db {

/// All that the outside needs of this layer, without libpq's headers.

/// As open_session, with SIGINT and SIGTERM caught from now on (db/interrupt.h).
std::unique_ptr<Database> open(
    const SessionOptions& options,
    const std::function<sql::ReadBytes(const Migration&, std::size_t)>& open_script,
    const std::function<void(std::string_view)>& tell);

/// The version of the libpq in use: "15.18".
std::string libpq_version();

}  // namespace lockstep::db
