#include "db/identity.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include "db/socket_peer.h"

namespace lockstep::db {
namespace {

std::optional<int> own_port(int socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0) return std::nullopt;
  if (address.ss_family == AF_INET) return ntohs(reinterpret_cast<const sockaddr_in*>(&address)->sin_port);
  if (address.ss_family == AF_INET6) return ntohs(reinterpret_cast<const sockaddr_in6*>(&address)->sin6_port);
  return std::nullopt;
}

}  // namespace

OwnEnd own_end(PGconn* connection) {
  const int socket = PQsocket(connection);
  return {PQbackendPID(connection), own_port(socket), listener_of(socket)};
}

Path path_to(const OwnEnd& own, const Identity& backend) {
  if (own.handshake_pid != backend.pid || own.port != backend.client_port) return Path::indirect;
  const bool direct = own.port || (own.listener && is_parent(*own.listener, backend.pid));
  return direct ? Path::direct : Path::indirect;
}

}  // namespace lockstep::db
