#pragma once

#include <filesystem>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "sql/string_setting.h"
#include "support/fd.h"
#include "support/temp_dir.h"

namespace lockstep::test {

/// What a client sent: a query with the simple protocol, or all data of one COPY.
struct Sent {
  enum class Kind { query, copy_data };

  Kind kind;
  std::string text;

  friend bool operator==(const Sent&, const Sent&) = default;
};

/// Speaks PostgreSQL's protocol on a unix socket, finds every query good and remembers it. COPY … FROM STDIN
/// gets its data taken, SET standard_conforming_strings is told to the client: so psql shows how it cuts a
/// file, whatever the file would do to a real server.
class RecordingServer {
 public:
  RecordingServer();
  RecordingServer(const RecordingServer&) = delete;
  RecordingServer& operator=(const RecordingServer&) = delete;
  ~RecordingServer();

  /// For psql's -h; the port is 5432.
  std::string host() const { return dir_.string(); }
  /// What came since the last call.
  std::vector<Sent> take();

 private:
  void talk(int client);
  void answer(int client, const std::string& query);
  std::string take_copy_data(int client);
  void remember(Sent::Kind kind, std::string text);

  TempDir dir_;
  Fd listener_;
  std::mutex mutex_;
  std::vector<Sent> sent_;
  sql::StringSetting strings_{sql::Strings::standard};
  std::thread thread_;
};

}  // namespace lockstep::test
