#pragma once

#include <libpq-fe.h>

#include <optional>

#include "core/duration.h"
#include "core/error.h"
#include "db/interrupted.h"

namespace lockstep::db {

/// Handles SIGINT and SIGTERM from now on: the first one cancels the running statement and makes every later
/// step throw, so that the open transaction is rolled back and the lock released; a second one ends the
/// process at once. When the server does not answer any more, the run ends within 10 s all the same.
void catch_interrupts();

/// The failure that an interrupt asks for, if there was one.
std::optional<Failure> interruption();

/// Waits; throws as soon as an interrupt comes.
void pause(Milliseconds duration);

/// While it lives, an interrupt cancels what this connection runs.
class Cancellable {
 public:
  explicit Cancellable(PGconn* connection);
  ~Cancellable();
  Cancellable(const Cancellable&) = delete;
  Cancellable& operator=(const Cancellable&) = delete;

 private:
  PGcancel* cancel_;
};

/// While it lives, an interrupt ends the process at once: libpq opens the first connection, and nothing needs
/// to be undone.
class Connecting {
 public:
  Connecting();
  ~Connecting();
  Connecting(const Connecting&) = delete;
  Connecting& operator=(const Connecting&) = delete;
};

/// While it lives, an interrupt leaves the running statement a few seconds to end by itself: it writes down
/// what is done already, and without it the next run would do that again.
class Unhurried {
 public:
  Unhurried();
  ~Unhurried();
  Unhurried(const Unhurried&) = delete;
  Unhurried& operator=(const Unhurried&) = delete;
};

enum class Readiness { ready, timed_out };

/// Waits until the connection's socket has something to read; throws as soon as an interrupt comes.
Readiness wait_readable(PGconn* connection, Milliseconds at_most);

/// Waits until the connection's socket has something to read, or an interrupt comes. Never throws.
Readiness wait_quietly(PGconn* connection, Milliseconds at_most);

/// Waits for the answer to a running statement. An interrupt does not throw here but cancels the
/// statement, since its answer must still be read.
void wait_for_answer(PGconn* connection, Milliseconds at_most);

}  // namespace lockstep::db
