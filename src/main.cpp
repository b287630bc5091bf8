#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <iostream>

#include "cli/app.h"
#include "cli/system.h"
#include "db/open.h"
#include "ephemeral/server.h"
#include "files/load.h"
#include "files/open_script.h"

namespace lockstep {
namespace {

std::unique_ptr<Database> connect(const SessionOptions& options, Reporter& reporter) {
  return db::open(options, files::open_script,
                  [&reporter](std::string_view message) { reporter.note(message); });
}

void with_ephemeral_server(const cli::Environment& environment,
                           const std::function<void(const cli::ServerAddress&)>& use) {
  const auto server = ephemeral::EphemeralServer::start(
      {.programs = cli::variable(environment, "LOCKSTEP_PG_BIN").value_or(""),
       .path = cli::variable(environment, "PATH").value_or(""),
       .temp_dir = cli::variable(environment, "TMPDIR").value_or("")});
  const auto variables = server.environment();
  for (const auto& [name, value] : variables) {
    if (value.empty()) ::unsetenv(name.c_str());  // it would lead our own libpq elsewhere
  }
  use({.url = server.url(), .variables = {variables.begin(), variables.end()}});
}

cli::Context real_context(const char* const* variables) {
  cli::Context context{.out = std::cout, .err = std::cerr};
  context.out_terminal = cli::terminal_of(STDOUT_FILENO);
  context.err_terminal = cli::terminal_of(STDERR_FILENO);
  context.in_is_terminal = cli::is_terminal(STDIN_FILENO);
  context.environment = cli::environment_of(variables);
  context.libpq_version = db::libpq_version();
  context.load = files::load_migrations;
  context.connect = connect;
  context.read_text_file = cli::read_text_file;
  context.write_new_file = cli::write_new_file;
  context.read_answer = [] { return cli::read_answer(db::throw_if_interrupted); };
  context.random_uuid = cli::random_uuid;
  context.now = std::chrono::system_clock::now;
  context.with_ephemeral_server = [environment = context.environment](const auto& use) {
    with_ephemeral_server(environment, use);
  };
  context.run_program = cli::run_program;
  return context;
}

}  // namespace
}  // namespace lockstep

int main(int argc, char** argv) {
  lockstep::cli::keep_standard_streams();
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // a log that may not grow (ulimit -f) must not end a migration
  std::ios::sync_with_stdio(false);
  const auto context = lockstep::real_context(environ);
  return lockstep::cli::run(context, {argv + (argc > 0 ? 1 : 0), argv + argc});
}
