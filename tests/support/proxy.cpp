#include "support/proxy.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <deque>
#include <list>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "support/temp_dir.h"

namespace lockstep::test {
namespace {

using Clock = std::chrono::steady_clock;
using Counters = Proxy::Counters;

/// An address of either kind, as the socket calls take it.
struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

Address loopback(int port) {
  Address address{.size = sizeof(sockaddr_in)};
  auto& in = reinterpret_cast<sockaddr_in&>(address.storage);
  in.sin_family = AF_INET;
  in.sin_port = htons(static_cast<std::uint16_t>(port));
  in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

Address socket_in(const std::filesystem::path& dir, int port) {
  Address address{.size = sizeof(sockaddr_un)};
  auto& un = reinterpret_cast<sockaddr_un&>(address.storage);
  un.sun_family = AF_UNIX;
  const auto path = (dir / (".s.PGSQL." + std::to_string(port))).string();
  if (path.size() >= sizeof un.sun_path) throw std::runtime_error("too long for a socket: " + path);
  path.copy(un.sun_path, path.size());
  return address;
}

Fd listen_on(const Address& address) {
  Fd listener(::socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (::bind(listener.get(), address.get(), address.size) != 0 || ::listen(listener.get(), 128) != 0) {
    throw std::runtime_error("the proxy cannot listen");
  }
  return listener;
}

Fd connect_to(const Address& address) {
  Fd socket(::socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (::connect(socket.get(), address.get(), address.size) != 0) socket.reset();
  return socket;
}

void send_at_once(const Fd& socket) {
  const int on = 1;
  ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

/// Cuts a stream of protocol messages (type, length, body) into messages.
class Messages {
 public:
  void add(std::string_view bytes) { buffer_ += bytes; }
  /// The next whole message with its type byte, or nothing.
  std::string next() {
    if (buffer_.size() < header) return {};
    std::size_t size = 0;
    for (std::size_t i = 1; i < header; ++i) size = size << 8 | static_cast<unsigned char>(buffer_[i]);
    if (buffer_.size() < size + 1) return {};
    auto message = buffer_.substr(0, size + 1);
    buffer_.erase(0, size + 1);
    return message;
  }

 private:
  static constexpr std::size_t header = 5;
  std::string buffer_;
};

/// One direction: what has been read and is to be written when it is due.
struct Pipe {
  struct Piece {
    Clock::time_point due;
    std::string bytes;
  };
  std::deque<Piece> pieces = {};
};

void flush(Pipe& pipe, const Fd& to) {
  while (!pipe.pieces.empty() && pipe.pieces.front().due <= Clock::now()) {
    std::string_view rest = pipe.pieces.front().bytes;
    while (!rest.empty()) {
      const ssize_t done = ::send(to.get(), rest.data(), rest.size(), MSG_NOSIGNAL);
      if (done <= 0) break;
      rest.remove_prefix(static_cast<std::size_t>(done));
    }
    pipe.pieces.pop_front();
  }
}

/// One client and its server connection.
class Link {
 public:
  Link(Fd client, Fd server, const ProxyOptions& options, Counters& counters)
      : client_(std::move(client)), server_(std::move(server)), options_(options), counters_(counters) {
    send_at_once(client_);
    send_at_once(server_);
  }

  bool closed() const { return closed_; }
  int client() const { return client_.get(); }
  int server() const { return server_.get(); }
  bool stalled() const { return stalled_ || counters_.stall_all; }

  void from_client() {
    const auto bytes = receive(client_);
    if (!authenticated_ || closed_) return pass(to_server_, bytes);
    client_messages_.add(bytes);
    std::string passing;
    for (auto message = client_messages_.next(); !message.empty(); message = client_messages_.next()) {
      count(message);
      const bool hit = is_fault(message);
      if (!hit || options_.fault.moment == Fault::Moment::after) passing += message;
      if (!hit) continue;
      pass(to_server_, passing);
      return break_now();
    }
    pass(to_server_, passing);
  }

  void from_server() {
    const auto bytes = receive(server_);
    if (!authenticated_) watch_authentication(bytes);
    servers_turn_ = true;
    if (is_faulty_answer()) return break_now();
    pass(to_client_, bytes);
  }

  void deliver() {
    if (stalled()) return;
    flush(to_server_, server_);
    flush(to_client_, client_);
    if (ending_ && to_server_.pieces.empty() && to_client_.pieces.empty()) closed_ = true;
  }

  Clock::time_point next_due() const {
    auto due = Clock::time_point::max();
    for (const auto* pipe : {&to_server_, &to_client_}) {
      if (!pipe->pieces.empty()) due = std::min(due, pipe->pieces.front().due);
    }
    return due;
  }
  bool reading() const { return !ending_ && !stalled(); }

 private:
  std::string receive(const Fd& from) {
    std::string bytes(1 << 16, '\0');
    const ssize_t got = ::recv(from.get(), bytes.data(), bytes.size(), 0);
    if (got <= 0) ending_ = true;
    bytes.resize(got <= 0 ? 0 : static_cast<std::size_t>(got));
    return bytes;
  }

  void pass(Pipe& pipe, std::string bytes) {
    if (!bytes.empty()) pipe.pieces.push_back({Clock::now() + options_.delay, std::move(bytes)});
  }

  /// The answer to SSLRequest or GSSENCRequest is one byte, N; then messages follow up to ReadyForQuery.
  void watch_authentication(std::string_view bytes) {
    if (bytes == "N") return;
    server_messages_.add(bytes);
    for (auto message = server_messages_.next(); !message.empty(); message = server_messages_.next()) {
      if (message[0] == 'Z') authenticated_ = true;
    }
    if (authenticated_) ++counters_.connections;
  }

  void count(std::string_view message) {
    constexpr char terminate = 'X';
    if (message[0] == terminate) return;
    ++counters_.messages;
    if (std::exchange(servers_turn_, false)) ++counters_.round_trips;
  }

  bool fault_ahead() const { return options_.fault.kind != Fault::Kind::none && !counters_.fault_happened; }

  bool is_fault(std::string_view message) {
    if (!fault_ahead()) return false;
    const auto& fault = options_.fault;
    if (fault.round_trip > 0) {
      counters_.fault_happened =
          fault.moment == Fault::Moment::before && counters_.round_trips == fault.round_trip;
    } else if (message.find(fault.text) != std::string_view::npos) {
      counters_.fault_happened = ++counters_.matches == fault.message;
    }
    return counters_.fault_happened;
  }

  bool is_faulty_answer() {
    const auto& fault = options_.fault;
    if (!fault_ahead() || fault.round_trip == 0 || fault.moment == Fault::Moment::before) return false;
    counters_.fault_happened = counters_.round_trips == fault.round_trip;
    return counters_.fault_happened;
  }

  void break_now() {
    flush(to_server_, server_);
    if (options_.fault.kind == Fault::Kind::cut) closed_ = true;
    stalled_ = true;
  }

  Fd client_, server_;
  const ProxyOptions& options_;
  Counters& counters_;
  Pipe to_server_, to_client_;
  Messages client_messages_, server_messages_;
  bool authenticated_ = false, servers_turn_ = true, ending_ = false, closed_ = false, stalled_ = false;
};

int milliseconds_until(Clock::time_point due) {
  if (due == Clock::time_point::max()) return 50;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(due - Clock::now()).count();
  return static_cast<int>(std::clamp<long>(left, 0, 50));
}

/// The proxy's thread: one poll for all sockets.
class Loop {
 public:
  Loop(int listener, int stop, const Address& server, const ProxyOptions& options, Counters& counters)
      : listener_(listener), stop_(stop), server_(server), options_(options), counters_(counters) {}

  void run() {
    while (step()) {
      for (auto& link : links_) link.deliver();
      links_.remove_if([](const Link& link) { return link.closed(); });
    }
  }

 private:
  bool step() {
    std::vector<pollfd> waits{{stop_, POLLIN, 0}, {listener_, POLLIN, 0}};
    auto due = Clock::time_point::max();
    for (const auto& link : links_) {
      waits.push_back({link.reading() ? link.client() : -1, POLLIN, 0});
      waits.push_back({link.reading() ? link.server() : -1, POLLIN, 0});
      due = std::min(due, link.next_due());
    }
    ::poll(waits.data(), waits.size(), milliseconds_until(due));
    if (waits[0].revents != 0) return false;
    std::size_t at = 2;
    for (auto& link : links_) {
      if (waits[at++].revents != 0) link.from_client();
      if (waits[at++].revents != 0 && !link.closed()) link.from_server();
    }
    if (waits[1].revents != 0) accept();
    return true;
  }

  void accept() {
    Fd client(::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC));
    Fd server = connect_to(server_);
    if (client.open() && server.open())
      links_.emplace_back(std::move(client), std::move(server), options_, counters_);
  }

  int listener_, stop_;
  Address server_;
  const ProxyOptions& options_;
  Counters& counters_;
  std::list<Link> links_;
};

}  // namespace

Proxy::Proxy(const PgServer& server, ProxyOptions options)
    : options_(std::move(options)), port_(free_port()) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("the proxy has no pipe");
  stop_read_ = Fd(ends[0]);
  stop_write_ = Fd(ends[1]);
  const bool tcp = options_.transport == Transport::tcp;
  if (!tcp) dir_ = make_temp_dir("lockstep-proxy-");
  listener_ = listen_on(tcp ? loopback(port_) : socket_in(dir_, port_));
  const auto target = tcp ? loopback(server.port()) : socket_in(server.socket_dir(), server.port());
  thread_ = std::thread(
      [this, target] { Loop(listener_.get(), stop_read_.get(), target, options_, counters_).run(); });
}

Proxy::~Proxy() {
  stop_write_.reset();
  thread_.join();
  std::error_code ignored;
  if (!dir_.empty()) std::filesystem::remove_all(dir_, ignored);
}

std::string Proxy::url(std::string_view database, std::string_view user) const {
  std::ostringstream text;
  text << "postgresql:///" << database << "?user=" << user << "&port=" << port_
       << "&host=" << (dir_.empty() ? "127.0.0.1" : dir_.string()) << "&sslmode=disable&gssencmode=disable";
  return text.str();
}

void Proxy::reset() {
  for (auto* counter : {&counters_.round_trips, &counters_.messages, &counters_.connections}) *counter = 0;
}

Command unprobed(Command command) {
  command.argv.emplace_back("--pooler=assume-session");
  return command;
}

}  // namespace lockstep::test
