#pragma once

#include <libpq-fe.h>

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/session_options.h"

namespace lockstep::db {

/// Tells a person what is being waited for.
using Tell = std::function<void(std::string_view)>;

/// What the server shows of this run.
std::string application_name(const SessionOptions& options);

/// Settings that libpq asks of each session for its environment (PostgreSQL docs, 34.15: PGDATESTYLE, PGTZ,
/// PGGEQO), name and value.
std::vector<std::pair<std::string, std::string>> settings_of_environment();

/// Opens the connection, with keepalives and timeouts that notice a vanished server within about ten seconds.
/// With `wait_for_db` it tries again while the server is not there yet, is starting up, or lacks the
/// database. Throws Failure.
PGconn* connect(const SessionOptions& options, const Tell& tell);

/// Opens another connection to the very server that `first` reached. PQstatus tells whether that was
/// possible.
PGconn* connect_again(PGconn* first, const SessionOptions& options, Milliseconds at_most);

}  // namespace lockstep::db
