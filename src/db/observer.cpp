#include "db/observer.h"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <utility>

#include "db/connect.h"
#include "db/interrupt.h"

namespace lockstep::db {
namespace {

// A server under pressure must not keep the observer from its own session's results. Between two looks its
// session may be idle for long; servers before 14 have no limit for that.
constexpr auto settings = R"(set statement_timeout = '1s'; set lock_timeout = '1s';
select pg_catalog.set_config(s.name, '0', false) from pg_catalog.pg_settings as s
where s.name operator(pg_catalog.=) 'idle_session_timeout')";

/// More than the server takes to cancel a statement of ours.
constexpr Milliseconds patience{1500};

constexpr auto activity_query = R"(
select coalesce(a.wait_event_type operator(pg_catalog.||) ': ' operator(pg_catalog.||) a.wait_event, ''),
       coalesce(p.phase, ''), coalesce(p.blocks_done, 0)::pg_catalog.int8, coalesce(p.blocks_total, 0)::pg_catalog.int8,
       coalesce(a.wait_event_type, '')
from pg_catalog.pg_stat_activity as a
left join pg_catalog.pg_stat_progress_create_index as p on p.pid operator(pg_catalog.=) a.pid
where a.pid operator(pg_catalog.=) $1::pg_catalog.int4)";

std::string blockers_query() {
  return fmt::format(
      "select b.pid, {} from pg_catalog.unnest(pg_catalog.pg_blocking_pids($1::pg_catalog.int4)) as b (pid)"
      " left join pg_catalog.pg_stat_activity as a on a.pid operator(pg_catalog.=) b.pid order by b.pid",
      session_columns("a.xact_start"));
}

/// The answer to what was sent; nothing when it does not come in time: a full pool keeps a client waiting for
/// a backend, and a network can be gone.
Result answer(PGconn* connection) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  Result last;
  while (true) {
    while (PQisBusy(connection) == 0) {
      Result result(PQgetResult(connection));
      if (!result) return last;
      last = std::move(result);
    }
    const auto left = std::chrono::duration_cast<Milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left <= Milliseconds(0) || wait_quietly(connection, left) == Readiness::timed_out) return nullptr;
    if (PQconsumeInput(connection) == 0) return nullptr;
  }
}

std::string progress(const PGresult* seen) {
  const auto phase = text_at(seen, 0, 1);
  if (phase.empty()) return {};
  const auto done = int8_at(seen, 0, 2), total = int8_at(seen, 0, 3);
  if (total == 0) return fmt::format("{}", phase);
  return fmt::format("{}, {} %", phase, 100 * done / total);
}

}  // namespace

std::string session_columns(std::string_view since) {
  // A port is there unless the server hides the session from this role, or it has no client at all.
  return fmt::format(
      R"(coalesce(a.application_name, ''), coalesce(a.usename::pg_catalog.text, ''),
        case when a.client_port is null then '' else coalesce(pg_catalog.host(a.client_addr), 'local socket') end,
        {}, coalesce(a.state, ''),
        case when a.query operator(pg_catalog.=) '<insufficient privilege>' then ''
             else coalesce(pg_catalog.left(a.query, 200), '') end)",
      since);
}

LockHolder session_at(const PGresult* result, int row, int first) {
  const auto text = [&](int column) { return std::string(text_at(result, row, first + column)); };
  return {.pid = int4_at(result, row, first),
          .application = text(1),
          .user = text(2),
          .client = text(3),
          .since = time_at(result, row, first + 4),
          .state = text(5),
          .query = text(6)};
}

Observer::Observer(PGconn* watched, int backend_pid, const SessionOptions& options)
    : watched_(watched), backend_pid_(backend_pid), options_(options) {}

Observer::~Observer() {
  PQfinish(connection_);
}

bool Observer::connected() {
  if (connection_ != nullptr && PQstatus(connection_) == CONNECTION_OK) return true;
  // A second connection that cannot be had once is not asked for again: each try would delay the results.
  if (given_up_) return false;
  given_up_ = true;
  PQfinish(connection_);
  connection_ = connect_again(watched_, options_, Milliseconds(2000));
  if (PQstatus(connection_) != CONNECTION_OK) {
    trouble_ = connection_error(connection_).message;
    return false;
  }
  PQsendQuery(connection_, settings);
  return wait_for_answer() != nullptr;
}

/// A connection that does not answer is not asked again.
Result Observer::wait_for_answer() {
  auto result = answer(connection_);
  if (!result) PQfinish(std::exchange(connection_, nullptr));
  return result;
}

Result Observer::ask(const std::string& query) {
  if (!connected()) return nullptr;
  const auto pid = std::to_string(backend_pid_);
  const std::array<const char*, 1> values{pid.c_str()};
  PQsendQueryParams(connection_, query.c_str(), 1, nullptr, values.data(), nullptr, nullptr, 1);
  auto result = wait_for_answer();
  return result && PQresultStatus(result.get()) == PGRES_TUPLES_OK ? std::move(result) : nullptr;
}

std::optional<Activity> Observer::look(Milliseconds running) {
  const auto seen = ask(activity_query);
  const auto blocking = ask(blockers_query());
  if (!seen && !trouble_.empty())
    return Activity{.running = running,
                    .progress = "no second connection to see what it waits for: " + trouble_};
  if (!seen || PQntuples(seen.get()) == 0) return std::nullopt;
  Activity activity{.running = running, .progress = progress(seen.get())};
  if (text_at(seen.get(), 0, 4) == "Lock") activity.waits_for = text_at(seen.get(), 0, 0);
  for (int row = 0; blocking && row < PQntuples(blocking.get()); ++row) {
    activity.blockers.push_back(session_at(blocking.get(), row, 0));
  }
  return activity;
}

}  // namespace lockstep::db
