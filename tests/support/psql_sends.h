#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "support/pg_server.h"
#include "support/program.h"
#include "support/recording_server.h"
#include "support/script_pieces.h"

namespace lockstep::test {

/// psql drops empty lines and what it does not send itself; so runs of blanks count as one.
inline std::string squeezed(std::string_view text) {
  std::string result;
  for (const char byte : text) {
    const bool blank = std::string_view(" \t\r\n\f\v").find(byte) != std::string_view::npos;
    if (!blank) result += byte;
    if (blank && !result.ends_with(' ')) result += ' ';
  }
  return result;
}

/// psql sends comments around a statement with it.
inline bool holds_only(std::string_view sent, std::string_view statement) {
  for (auto at = sent.find(statement); at != std::string_view::npos; at = sent.find(statement, at + 1)) {
    if (is_gap(sent.substr(0, at)) && is_gap(sent.substr(at + statement.size()))) return true;
  }
  return false;
}

/// What psql sends for a script, run in `folder`. Comments alone are left out.
inline std::vector<Sent> sent_by_psql(RecordingServer& server, const std::filesystem::path& folder,
                                      const std::string& script) {
  run({.argv = {PgServer::program("psql"), "-XqAt", "-h", server.host(), "-U", "x", "-d", "x", "-f", script},
       .env = {{"PGCLIENTENCODING", "UTF8"}},
       .cwd = folder});
  auto sent = server.take();
  std::erase_if(sent, [](const Sent& one) { return one.kind == Sent::Kind::query && is_gap(one.text); });
  return sent;
}

/// Old psql sends the line that ends the data, too.
inline std::string_view without_end_marker(std::string_view data) {
  for (const std::string_view marker : {"\\.\n", "\\.\r\n", "\\."}) {
    const bool whole_line = data == marker || data.ends_with("\n" + std::string(marker));
    if (whole_line) return data.substr(0, data.size() - marker.size());
  }
  return data;
}

inline bool same(const Sent& psql, const Sent& ours) {
  if (psql.kind != ours.kind) return false;
  if (psql.kind == Sent::Kind::copy_data) return without_end_marker(psql.text) == ours.text;
  return holds_only(squeezed(psql.text), squeezed(ours.text));
}

}  // namespace lockstep::test
