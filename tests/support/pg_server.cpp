#include "support/pg_server.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>

#include "support/temp_dir.h"

namespace lockstep::test {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view default_settings = R"(
fsync = off
synchronous_commit = off
full_page_writes = off
autovacuum = off
jit = off
max_connections = 250
max_prepared_transactions = 10
shared_buffers = 64MB
password_encryption = scram-sha-256
logging_collector = off
log_destination = stderr
log_line_prefix = '%m [%p] [%d] [%a] '
log_min_messages = warning
lc_messages = 'C'
timezone = 'UTC'
log_timezone = 'UTC'
)";

constexpr std::string_view trusting_hba =
    "local all all trust\n"
    "host all all all trust\n"
    "local replication all trust\n"
    "host replication all all trust\n";

bool has_server(const fs::path& bin) {
  return ::access((bin / "initdb").c_str(), X_OK) == 0 && ::access((bin / "postgres").c_str(), X_OK) == 0;
}

int major_version(const fs::path& bin) {
  const std::string text = bin.parent_path().filename();
  int version = 0;
  std::from_chars(text.data(), text.data() + text.size(), version);
  return version;
}

std::vector<fs::path> installed() {
  std::vector<fs::path> found;
  const fs::path root = "/usr/lib/postgresql";
  if (fs::exists(root)) {
    for (const auto& entry : fs::directory_iterator(root)) found.push_back(entry.path() / "bin");
  }
  std::ranges::sort(found, std::ranges::greater{}, major_version);
  std::istringstream path(environment("PATH"));
  for (std::string folder; std::getline(path, folder, ':');) found.emplace_back(folder);
  return found;
}

fs::path find_server() {
  if (const auto given = environment("LOCKSTEP_TEST_PG_BIN"); !given.empty()) {
    if (has_server(given)) return given;
    throw std::runtime_error("LOCKSTEP_TEST_PG_BIN=" + given + " has no initdb and postgres");
  }
  const auto candidates = installed();
  const auto found = std::ranges::find_if(candidates, has_server);
  if (found != candidates.end()) return *found;
  throw std::runtime_error(
      "no PostgreSQL server programs: neither in /usr/lib/postgresql/*/bin nor in PATH. Install postgresql "
      "or set "
      "LOCKSTEP_TEST_PG_BIN.");
}

std::string percent_encoded(std::string_view text) {
  std::string result;
  for (const char c : text) result += c == '/' ? std::string("%2F") : std::string(1, c);
  return result;
}

}  // namespace

PgServer& PgServer::shared() {
  static PgServer server;
  return server;
}

std::string PgServer::program(const std::string& name) {
  static const fs::path bin = find_server();
  return (bin / name).string();
}

int PgServer::version(const fs::path& bin) {
  static std::map<fs::path, int> known;
  auto& major = known[bin];
  if (major == 0) {
    const auto text = output_of({.argv = {bin / "postgres", "--version"}});  // postgres (PostgreSQL) 15.18
    major = std::stoi(text.substr(text.find_first_of("0123456789")));
  }
  return major;
}

PgServer::PgServer(const ServerOptions& options)
    : daemon_("pg"),
      bin_(options.bin.empty() ? fs::path(program("postgres")).parent_path() : options.bin),
      port_(free_port()),
      language_(options.language) {
  daemon_.run_inside(
      {bin_ / "initdb", "-D", "data", "-U", "postgres", "-A", "trust", "-N", "-E", "UTF8", "--locale=C"});
  if (options.tls == Tls::on) make_certificate();
  write_settings(options);
  write_file(data() / "pg_hba.conf", options.hba.empty() ? trusting_hba : std::string_view(options.hba));
  start();
}

void PgServer::make_certificate() const {
  daemon_.run_inside({"openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
                      "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout",
                      "server.key", "-out", "server.crt"});
}

void PgServer::write_settings(const ServerOptions& options) const {
  std::ofstream file(data() / "postgresql.conf", std::ios::app);
  file << default_settings << "listen_addresses = '127.0.0.1,::1'\nport = " << port_
       << "\nunix_socket_directories = '" << socket_dir().string() << "'\n";
  if (options.tls == Tls::on) {
    file << "ssl = on\nssl_cert_file = '" << certificate().string() << "'\nssl_key_file = '"
         << (socket_dir() / "server.key").string() << "'\n";
  }
  if (!options.language.empty()) file << "lc_messages = 'C.UTF-8'\n";
  for (const auto& line : options.settings) file << line << '\n';
}

void PgServer::start() {
  start_until([this] { return ready(); });
}

void PgServer::start_until(const std::function<bool()>& condition) {
  // gettext looks at LANGUAGE only where the locale is not plain C.
  std::vector<std::string> command{bin_ / "postgres", "-D", data().string()};
  if (!language_.empty()) command.insert(command.begin(), {"env", "LANGUAGE=" + language_, "LC_ALL=C.UTF-8"});
  daemon_.start(command, "QUIT", condition);
}

/// The last line of the server's pid file tells when connections are accepted.
bool PgServer::ready() const {
  const auto file = data() / "postmaster.pid";
  if (!fs::exists(file)) return false;
  const auto text = read_file(file);
  return text.find("\nready") != std::string::npos || text.find("\nstandby") != std::string::npos;
}

void PgServer::start_as_standby() {
  write_file(data() / "standby.signal", "");
  start();
}

void PgServer::start_slowly() {
  write_file(data() / "recovery.signal", "");
  write_file(data() / "postgresql.auto.conf",
             "restore_command = 'while [ ! -e go ]; do sleep 0.05; done; exit 1'\n");
  const int turned_away = 1;
  start_until([&] {
    const auto port = std::to_string(port_);
    return run({.argv = {program("pg_isready"), "-h", socket_dir().string(), "-p", port}}).exit_code ==
           turned_away;
  });
}

void PgServer::finish_start() {
  write_file(data() / "go", "");
  wait_until("the server to accept connections", [this] { return ready(); });
}

void PgServer::set_hba(std::string_view hba) {
  write_file(data() / "pg_hba.conf", hba);
  daemon_.run_inside({bin_ / "pg_ctl", "-D", data().string(), "reload"});
}

std::string PgServer::url(std::string_view database, std::string_view user) const {
  std::ostringstream text;
  text << "postgresql://" << user << "@127.0.0.1:" << port_ << '/' << database;
  return text.str();
}

std::string PgServer::socket_url(std::string_view database, std::string_view user) const {
  std::ostringstream text;
  text << "postgresql://" << user << '@' << percent_encoded(socket_dir().string()) << ':' << port_ << '/'
       << database;
  return text.str();
}

std::string PgServer::conninfo(std::string_view database, std::string_view user) const {
  std::ostringstream text;
  text << "host=" << socket_dir().string() << " port=" << port_ << " user=" << user << " dbname=" << database;
  return text.str();
}

std::string PgServer::psql(std::string_view database, std::string_view sql) const {
  auto text =
      output_of({.argv = {program("psql"), "-XAtq", "-v", "ON_ERROR_STOP=1", "-d", conninfo(database)},
                 .input = std::string(sql)});
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

std::uintmax_t PgServer::log_mark() const {
  return fs::file_size(daemon_.log());
}

std::string PgServer::log_since(std::uintmax_t mark) const {
  return read_file(daemon_.log()).substr(mark);
}

std::vector<std::string> PgServer::errors_since(std::uintmax_t mark, std::string_view database) const {
  const std::string wanted = database.empty() ? std::string() : " [" + std::string(database) + "] ";
  std::vector<std::string> errors;
  std::istringstream log(log_since(mark));
  for (std::string line; std::getline(log, line);) {
    const auto has = [&](std::string_view text) { return line.find(text) != std::string::npos; };
    if (has(wanted) && (has("] ERROR: ") || has("] FATAL: ") || has("] PANIC: "))) errors.push_back(line);
  }
  return errors;
}

}  // namespace lockstep::test
