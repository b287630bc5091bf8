#include "db/interrupt.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <string_view>

namespace lockstep::db {
namespace {

// The handler may only touch these.
std::atomic<int> seen_signal{0};
std::atomic<PGcancel*> running{nullptr};
std::atomic<int> running_socket{-1};
std::atomic<bool> given_up{false};
std::atomic<bool> connecting{false};
std::atomic<bool> unhurried{false};
std::array<int, 2> wake_pipe{-1, -1};

constexpr Milliseconds time_to_end{3000};
/// Together less than the ten seconds after which a container's run time kills. In seconds, as alarm() takes
/// them.
constexpr unsigned time_to_give_up = 6;
constexpr unsigned time_to_leave = 3;

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
  if (running_socket >= 0) alarm(time_to_give_up);
  [[maybe_unused]] const auto written = write(wake_pipe[1], "x", 1);
  if (!unhurried) cancel_running();
  errno = saved_errno;
}

[[noreturn]] void leave() {
  constexpr std::string_view words = "error: interrupted, and the server cannot be reached any more\n";
  [[maybe_unused]] const auto written = write(STDERR_FILENO, words.data(), words.size());
  _exit(128 + seen_signal);
}

/// To libpq, wherever it waits for an answer, the connection is lost now. If it waits in PQcancel for another
/// connection, to a host that has vanished, nothing else helps than to leave.
void on_alarm(int /*number*/) {
  const int saved_errno = errno;
  if (given_up.exchange(true)) leave();
  if (const int socket = running_socket; socket >= 0) shutdown(socket, SHUT_RDWR);
  alarm(time_to_leave);
  errno = saved_errno;
}

void handle(int number, void (*handler)(int), int flags) {
  struct sigaction action{};
  action.sa_handler = handler;
  action.sa_flags = flags;
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
  constexpr auto once = static_cast<int>(SA_RESETHAND | SA_RESTART);
  handle(SIGINT, on_signal, once);
  handle(SIGTERM, on_signal, once);
  handle(SIGALRM, on_alarm, 0);  // a system call that waits is not to go on
}

std::optional<Failure> interruption() {
  const int number = seen_signal;
  if (number == 0) return std::nullopt;
  const bool terminated = number == SIGTERM;
  return Failure(
      {.kind = terminated ? ErrorKind::terminated : ErrorKind::interrupted,
       .code = terminated ? "terminated" : "interrupted",
       .message = terminated ? "terminated by SIGTERM" : "interrupted by SIGINT",
       .hints = {given_up
                     ? "The server did not answer any more. It rolls back what was open and releases the "
                       "lock when it notices that this run has left. Run the command again: it goes on "
                       "from there."
                     : "What was open is rolled back and the lock is released. Run the command again: it "
                       "goes on from there."}});
}

void throw_if_interrupted() {
  if (const auto failure = interruption()) throw *failure;
}

void pause(Milliseconds duration) {
  wait_for(-1, duration);
}

Cancellable::Cancellable(PGconn* connection) : cancel_(PQgetCancel(connection)) {
  running = cancel_;
  running_socket = PQsocket(connection);
}

Cancellable::~Cancellable() {
  running_socket = -1;
  alarm(0);  // what follows waits for no server
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
