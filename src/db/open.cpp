#include "db/open.h"

#include <fmt/format.h>
#include <libpq-fe.h>

#include "db/interrupt.h"
#include "db/postgres.h"

namespace lockstep::db {

std::unique_ptr<Database> open(
    const SessionOptions& options,
    const std::function<sql::ReadBytes(const Migration&, std::size_t)>& open_script,
    const std::function<void(std::string_view)>& tell) {
  catch_interrupts();
  return open_session(options, open_script, tell);
}

std::string libpq_version() {
  return fmt::format("{}.{}", PQlibVersion() / 10000, PQlibVersion() % 10000);
}

}  // namespace lockstep::db
