#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <thread>

#include "support/fd.h"
#include "support/pg_server.h"
#include "support/program.h"
#include "support/wait.h"

namespace lockstep::test {

/// What the proxy does, once, when a chosen message of a client comes by. Messages and round trips are
/// counted from 1 over all connections, after authentication.
struct Fault {
  enum class Kind { none, cut, stall };  ///< cut: both sides are closed. stall: nothing passes any more.
  enum class Moment { before, after };   ///< whether the server still gets it; its answer never passes
  Kind kind = Kind::none;
  Moment moment = Moment::before;
  int message = 1;        ///< which one, of those that contain `text`
  std::string text = {};  ///< empty: any message
  int round_trip = 0;     ///< not 0: everything that is sent in this round trip, instead of one message
};

/// A client sees in both ways that something is in between: from the port, or from who listens at the unix
/// socket.
enum class Transport { tcp, unix_socket };

struct ProxyOptions {
  Transport transport = Transport::tcp;
  std::chrono::milliseconds delay{
      0};  ///< each way; what is on its way stays in order and is not held up by it
  Fault fault = {};
};

/// A proxy between a client and a test server that counts round trips.
///
/// A round trip is a change of direction after authentication has finished: the client sends something after
/// it was the server's turn. A farewell (Terminate) alone does not count. Use it without TLS.
class Proxy {
 public:
  explicit Proxy(const PgServer& server, ProxyOptions options = {});
  Proxy(const Proxy&) = delete;
  Proxy& operator=(const Proxy&) = delete;
  ~Proxy();

  std::string url(std::string_view database, std::string_view user = "postgres") const;

  int round_trips() const { return counters_.round_trips; }
  /// Messages of clients after authentication.
  int messages() const { return counters_.messages; }
  /// Connections that authenticated.
  int connections() const { return counters_.connections; }
  bool fault_happened() const { return counters_.fault_happened; }
  /// Sets the three counters to zero.
  void reset();
  /// From now on nothing passes on the connections that are open, as if the network were gone.
  void stall() { counters_.stall_all = true; }

  /// Shared with the proxy's thread.
  struct Counters {
    std::atomic<int> round_trips = 0, messages = 0, connections = 0, matches = 0;
    std::atomic<bool> fault_happened = false, stall_all = false;
  };

 private:
  ProxyOptions options_;
  std::filesystem::path dir_;  ///< of the unix socket
  int port_ = 0;
  Counters counters_;
  Fd listener_, stop_read_, stop_write_;
  std::thread thread_;
};

/// The same command without the messages of the pooler probe, as if it were connected directly.
Command unprobed(Command command);

}  // namespace lockstep::test
