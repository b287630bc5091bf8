#include "db/interrupt.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>

namespace lockstep::db {
namespace {

// The handler may only touch these.
std::atomic<int> seen_signal{0};
std::atomic<PGcancel*> running{nullptr};
std::atomic<bool> connecting{false};
std::atomic<bool> unhurried{false};
std::array<int, 2> wake_pipe{-1, -1};

constexpr Milliseconds time_to_end{3000};

static_assert(std::atomic<int>::is_always_lock_free && std::atomic<PGcancel*>::is_always_lock_free);

/// May be called from a signal handler, as PQcancel may (PostgreSQL docs, "Canceling Queries in Progress").
void cancel_running() {
  std::array<char, 256> message{};
  if (auto* cancel = running.load()) PQcancel(cancel, message.data(), static_cast<int>(message.size()));
}

void on_signal(int number) {
  const int saved_errno = errno;
  seen_signal = number;
  if (connecting) _exit(128 + number);
  [[maybe_unused]] const auto written = write(wake_pipe[1], "x", 1);
  if (!unhurried) cancel_running();
  errno = saved_errno;
}

void handle(int number) {
  struct sigaction action{};
  action.sa_handler = on_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  sigemptyset(&action.sa_mask);
  sigaction(number, &action, nullptr);
}

/// Polls `descriptor` and `other` until one is readable or the time is over.
Readiness poll_both(int descriptor, int other, Milliseconds at_most) {
  std::array<pollfd, 2> waiting{{{descriptor, POLLIN, 0}, {other, POLLIN, 0}}};
  const auto count = poll(waiting.data(), waiting.size(), static_cast<int>(at_most.count()));
  return count > 0 && waiting[0].revents != 0 ? Readiness::ready : Readiness::timed_out;
}

/// Waits for `descriptor`; throws as soon as an interrupt comes.
Readiness wait_for(int descriptor, Milliseconds at_most) {
  const auto deadline = std::chrono::steady_clock::now() + at_most;
  while (true) {
    throw_if_interrupted();
    const auto left = std::chrono::duration_cast<Milliseconds>(deadline - std::chrono::steady_clock::now()) +
                      Milliseconds(1);
    if (left <= Milliseconds(0)) return Readiness::timed_out;
    if (poll_both(descriptor, wake_pipe[0], left) == Readiness::ready) return Readiness::ready;
  }
}

}  // namespace

void catch_interrupts() {
  if (pipe2(wake_pipe.data(), O_CLOEXEC | O_NONBLOCK) != 0) {
    throw Failure(Error{.code = "no_pipe", .message = "cannot create a pipe for signals"});
  }
  handle(SIGINT);
  handle(SIGTERM);
}

std::optional<Failure> interruption() {
  const int number = seen_signal;
  if (number == 0) return std::nullopt;
  const bool terminated = number == SIGTERM;
  return Failure(
      {.kind = terminated ? ErrorKind::terminated : ErrorKind::interrupted,
       .code = terminated ? "terminated" : "interrupted",
       .message = terminated ? "terminated by SIGTERM" : "interrupted by SIGINT",
       .hints = {"What was open is rolled back and the lock is released. Run the command again: it goes on "
                 "from there."}});
}

void throw_if_interrupted() {
  if (const auto failure = interruption()) throw *failure;
}

void pause(Milliseconds duration) {
  wait_for(-1, duration);
}

Cancellable::Cancellable(PGconn* connection) : cancel_(PQgetCancel(connection)) {
  running = cancel_;
}

Cancellable::~Cancellable() {
  running = nullptr;
  PQfreeCancel(cancel_);
}

Connecting::Connecting() {
  connecting = true;
}
Connecting::~Connecting() {
  connecting = false;
}

Unhurried::Unhurried() {
  unhurried = true;
}
Unhurried::~Unhurried() {
  unhurried = false;
}

Readiness wait_readable(PGconn* connection, Milliseconds at_most) {
  return wait_for(PQsocket(connection), at_most);
}

Readiness wait_quietly(PGconn* connection, Milliseconds at_most) {
  return poll_both(PQsocket(connection), wake_pipe[0], at_most);
}

void wait_for_answer(PGconn* connection, Milliseconds at_most) {
  if (seen_signal == 0) {
    poll_both(PQsocket(connection), wake_pipe[0], at_most);
    return;
  }
  if (unhurried && poll_both(PQsocket(connection), -1, time_to_end) == Readiness::ready) return;
  // A cancel request can overtake the statement that it is meant for, so it is repeated until there is an
  // answer.
  cancel_running();
  poll_both(PQsocket(connection), -1, Milliseconds(200));
}

}  // namespace lockstep::db
