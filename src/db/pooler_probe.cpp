#include "db/pooler_probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <random>

#include "db/connect.h"
#include "db/interrupt.h"

namespace lockstep::db {
namespace {

using Clock = std::chrono::steady_clock;

struct Finish {
  void operator()(PGconn* connection) const { PQfinish(connection); }
};
using Connection = std::unique_ptr<PGconn, Finish>;

constexpr std::string_view identify = "select pg_catalog.pg_backend_pid(), pg_catalog.inet_client_port()";

/// Lets a pooler that detaches lazily detach.
constexpr Milliseconds idle_gap{100};
constexpr int answers_wanted_while_other_waits = 5;

Milliseconds since(Clock::time_point begin) {
  return std::chrono::duration_cast<Milliseconds>(Clock::now() - begin);
}

std::string random_channel() {
  std::random_device random;
  return fmt::format("lockstep_probe_{:08x}{:08x}", random(), random());
}

/// One simple-protocol message whose answer may fail to come: a pooler can keep a client waiting for a
/// backend.
class Question {
 public:
  Question(PGconn* connection, const std::string& sql) : connection_(connection) {
    PQsendQuery(connection, sql.c_str());
  }

  /// True when the whole answer has arrived.
  bool answered_within(Milliseconds at_most) {
    const auto begin = Clock::now();
    while (!done_) {
      if (PQconsumeInput(connection_) == 0) return fail();
      while (PQisBusy(connection_) == 0) {
        Result result(PQgetResult(connection_));
        if (!result) return done_ = true;
        if (PQresultStatus(result.get()) == PGRES_FATAL_ERROR) error_ = server_error(result.get()).message;
        last_ = std::move(result);
      }
      const auto left = at_most - since(begin);
      if (left <= Milliseconds(0) || wait_readable(connection_, left) == Readiness::timed_out) return false;
    }
    return true;
  }

  const std::string& error() const { return error_; }
  /// The connection was lost without a word of the server or the pooler.
  bool lost() const { return lost_; }

  Identity identity() const { return {number(0).value_or(0), number(1)}; }
  bool flag(int column) const { return *PQgetvalue(last_.get(), 0, column) == 't'; }

 private:
  bool fail() {
    lost_ = error_.empty();
    error_ = connection_error(connection_).message;
    return done_ = true;
  }

  std::optional<int> number(int column) const {
    if (!last_ || PQntuples(last_.get()) == 0 || PQgetisnull(last_.get(), 0, column)) return std::nullopt;
    return std::stoi(PQgetvalue(last_.get(), 0, column));
  }

  PGconn* connection_;
  Result last_;
  std::string error_;
  bool done_ = false;
  bool lost_ = false;
};

/// What the network did says nothing about the pooler.
Failure second_connection_lost(const std::string& words) {
  return Failure(Error{.kind = ErrorKind::connection,
                       .code = "connection_lost",
                       .message = "cannot find out what the pooler in the path does, since the second "
                                  "connection, which the proof needs, was lost: " +
                                  words,
                       .hints = {"Nothing was changed. Run the command again."}});
}

std::string moved(const Identity& from, const Identity& to) {
  if (from.pid == to.pid)
    return fmt::format("consecutive statements of this session reached backend {} through two connections",
                       from.pid);
  return fmt::format("consecutive statements of this session ran on backends {} and {}", from.pid, to.pid);
}

class Probe {
 public:
  Probe(Session& session, const SessionOptions& options, const Identity& home)
      : session_(session), options_(options), home_(home), channel_(random_channel()) {}

  Verdict run() {
    const auto begin = Clock::now();
    Question listen(session_.raw(), fmt::format("listen {}; {}", channel_, identify));
    if (!listen.answered_within(std::chrono::seconds(10))) {
      return {PoolMode::transaction, "this session did not get a backend back within 10 s"};
    }
    if (!listen.error().empty())
      return {PoolMode::undecidable, fmt::format("LISTEN was refused: {}", listen.error())};
    listener_ = listen.identity();
    if (listener_ != home_) return {PoolMode::transaction, moved(home_, *listener_)};
    patience_ = std::max(Milliseconds(1000), 20 * since(begin));

    pause(idle_gap);
    const Connection other(connect_again(session_.raw(), options_, patience_));
    if (PQstatus(other.get()) != CONNECTION_OK)
      return {PoolMode::undecidable, "a second connection, which the proof needs, could not be opened: " +
                                         connection_error(other.get()).message};
    return ask_other(other.get());
  }

  /// A refused session may sit on any backend of the pool: ask until the one that listens has answered.
  void clean_up() {
    if (!listener_) return;
    const auto begin = Clock::now();
    for (int i = 0; i < 64 && since(begin) < Milliseconds(600); ++i) {
      Question forget(session_.raw(), fmt::format("unlisten {}; {}", channel_, identify));
      if (!forget.answered_within(Milliseconds(200)) || !forget.error().empty()) return;
      if (forget.identity() == listener_) return;
    }
  }

 private:
  Verdict ask_other(PGconn* other) {
    Question notify(other, fmt::format("notify {}; {}", channel_, identify));
    if (!notify.answered_within(patience_)) {
      if (auto verdict = watch_while_other_waits(notify)) return *verdict;
    }
    if (notify.lost()) throw second_connection_lost(notify.error());
    if (!notify.error().empty()) {
      return {PoolMode::undecidable, fmt::format("the second connection failed: {}", notify.error())};
    }
    if (notify.identity() == home_) {
      return {
          PoolMode::transaction,
          fmt::format("backend {} served a second connection too while this session was idle", home_.pid)};
    }
    return expect_notification();
  }

  /// The other connection waits for a backend, so the pool is full. A pooler that shares backends would serve
  /// it before it serves this session again and again. Nothing: it was served after all.
  std::optional<Verdict> watch_while_other_waits(Question& notify) {
    for (int i = 0; i < answers_wanted_while_other_waits; ++i) {
      if (notify.answered_within(Milliseconds(40))) return std::nullopt;
      Question here(session_.raw(), std::string(identify));
      if (!here.answered_within(patience_ / 4)) {
        return Verdict{PoolMode::transaction,
                       "this session lost its backend while another connection waited for one"};
      }
      if (here.identity() != home_) return Verdict{PoolMode::transaction, moved(home_, here.identity())};
    }
    return Verdict{PoolMode::session,
                   fmt::format("backend {} stayed with this session while another connection waited for one",
                               home_.pid)};
  }

  Verdict expect_notification() {
    if (!session_.wait_for_notification(channel_, patience_)) {
      return {PoolMode::transaction,
              fmt::format("a notification sent to backend {} did not reach this idle session within {}",
                          home_.pid, to_string(patience_))};
    }
    Question check(session_.raw(), fmt::format("{}, exists (select from pg_catalog.pg_listening_channels() "
                                               "as c (name) where c.name operator(pg_catalog.=) '{}')",
                                               identify, channel_));
    if (!check.answered_within(std::chrono::seconds(10)) || !check.error().empty()) {
      return {PoolMode::transaction, "this session lost its backend after a notification"};
    }
    if (check.identity() != home_) return {PoolMode::transaction, moved(home_, check.identity())};
    if (!check.flag(2)) {
      return {
          PoolMode::transaction,
          fmt::format("a notification arrived, but backend {} does not listen: the pooler emulates LISTEN",
                      home_.pid)};
    }
    return {PoolMode::session,
            fmt::format("a notification sent to backend {} reached this idle session", home_.pid)};
  }

  Session& session_;
  const SessionOptions& options_;
  const Identity home_;
  const std::string channel_;
  std::optional<Identity> listener_;  ///< the backend that LISTEN ran on
  Milliseconds patience_{1000};
};

}  // namespace

Verdict probe_pooler(Session& session, const SessionOptions& options, const Identity& first_seen) {
  Probe probe(session, options, first_seen);
  auto verdict = probe.run();
  probe.clean_up();
  // What the network did says nothing about the pooler.
  if (session.lost()) {
    throw failed(session, ErrorKind::connection, "query_failed",
                 "cannot find out what the pooler in the path does", connection_error(session.raw()));
  }
  return verdict;
}

}  // namespace lockstep::db
