#include "support/recording_server.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <cstdint>
#include <optional>
#include <stdexcept>

#include "support/script_pieces.h"

namespace lockstep::test {
namespace {

struct Message {
  char type = 0;
  std::string body;
};

bool read_exactly(int fd, char* to, std::size_t size) {
  while (size > 0) {
    const auto got = ::recv(fd, to, size, 0);
    if (got <= 0) return false;
    to += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

std::optional<std::string> read_body(int fd) {
  unsigned char length[4];
  if (!read_exactly(fd, reinterpret_cast<char*>(length), sizeof length)) return std::nullopt;
  const auto size = (std::uint32_t{length[0]} << 24) + (std::uint32_t{length[1]} << 16) +
                    (std::uint32_t{length[2]} << 8) + length[3] - 4;
  std::string body(size, '\0');
  if (!read_exactly(fd, body.data(), size)) return std::nullopt;
  return body;
}

std::optional<Message> read_message(int fd) {
  Message message;
  if (!read_exactly(fd, &message.type, 1)) return std::nullopt;
  auto body = read_body(fd);
  if (!body) return std::nullopt;
  message.body = std::move(*body);
  return message;
}

void send_message(int fd, char type, const std::string& body) {
  const auto size = static_cast<std::uint32_t>(body.size() + 4);
  std::string bytes(1, type);
  for (const int shift : {24, 16, 8, 0}) bytes += static_cast<char>((size >> shift) & 0xFF);
  bytes += body;
  (void)!::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
}

std::string with_zero(const std::string& text) {
  return text + '\0';
}

void send_setting(int fd, const std::string& name, const std::string& value) {
  send_message(fd, 'S', with_zero(name) + with_zero(value));
}

/// What the server would find the query to be, if it were good.
sql::StatementClass class_of_query(const std::string& query, sql::Strings strings) {
  const auto text = " " + query;  // a byte order mark is one at the start of a file only
  sql::StatementReader reader(sql::read_from(text), {.strings = strings});
  for (auto item = reader.next(); item; item = reader.next()) {
    if (item->kind == sql::Item::Kind::statement) return item->statement;
  }
  return {};
}

Fd listen_in(const std::filesystem::path& dir) {
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  const auto path = (dir / ".s.PGSQL.5432").string();
  if (path.size() >= sizeof address.sun_path) throw std::runtime_error("too long for a socket: " + path);
  path.copy(address.sun_path, path.size());
  Fd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const auto* const any = reinterpret_cast<const sockaddr*>(&address);
  if (::bind(listener.get(), any, sizeof address) != 0 || ::listen(listener.get(), 8) != 0) {
    throw std::runtime_error("cannot listen on " + path);
  }
  return listener;
}

}  // namespace

RecordingServer::RecordingServer()
    : listener_(listen_in(dir_.path())), thread_([this] {
        for (;;) {
          const Fd client(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
          if (!client.open()) return;
          talk(client.get());
        }
      }) {}

RecordingServer::~RecordingServer() {
  ::shutdown(listener_.get(), SHUT_RDWR);
  thread_.join();
}

std::vector<Sent> RecordingServer::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(sent_, {});
}

void RecordingServer::remember(Sent::Kind kind, std::string text) {
  const std::lock_guard lock(mutex_);
  sent_.push_back({kind, std::move(text)});
}

void RecordingServer::talk(int client) {
  if (!read_body(client)) return;  // what the client says of itself
  send_message(client, 'R', std::string(4, '\0'));
  send_setting(client, "server_version", "15.0");
  send_setting(client, "server_encoding", "UTF8");
  send_setting(client, "client_encoding", "UTF8");
  send_setting(client, "standard_conforming_strings", "on");
  send_message(client, 'Z', "I");
  strings_ = sql::StringSetting(sql::Strings::standard);
  for (auto message = read_message(client); message && message->type == 'Q'; message = read_message(client)) {
    message->body.pop_back();
    answer(client, message->body);
    send_message(client, 'Z', "I");
  }
}

void RecordingServer::answer(int client, const std::string& query) {
  remember(Sent::Kind::query, query);
  if (is_gap(query)) return send_message(client, 'I', {});
  const auto before = strings_.value();
  const auto statement = class_of_query(query, before);
  strings_.apply(statement);
  if (strings_.value() != before) {
    const bool standard = strings_.value() == sql::Strings::standard;
    send_setting(client, "standard_conforming_strings", standard ? "on" : "off");
  }
  if (statement.kind == sql::StatementKind::copy_from_stdin) {
    send_message(client, 'G', std::string(3, '\0'));
    remember(Sent::Kind::copy_data, take_copy_data(client));
  }
  send_message(client, 'C', with_zero("OK"));
}

std::string RecordingServer::take_copy_data(int client) {
  std::string data;
  for (auto message = read_message(client); message && message->type == 'd'; message = read_message(client)) {
    data += message->body;
  }
  return data;
}

}  // namespace lockstep::test
