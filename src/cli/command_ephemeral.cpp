#include "cli/commands.h"

namespace lockstep::cli {
namespace {

Failure no_program() {
  Error error{.kind = ErrorKind::usage, .code = "missing_argument"};
  error.message = "ephemeral needs a command";
  error.hints = {"Write it after two dashes: lockstep ephemeral -- psql."};
  return Failure(std::move(error));
}

/// The server's variables, and those removed that would lead libpq elsewhere.
Environment variables_for(const ServerAddress& server) {
  Environment variables = server.variables;
  for (const auto* const name : {"PGSERVICE", "PGHOSTADDR", "LOCKSTEP_DATABASE_URL"}) variables[name] = "";
  for (const auto* const name : {"LOCKSTEP_URL", "DATABASE_URL"}) variables[name] = server.url;
  return variables;
}

}  // namespace

void run_ephemeral(Run& run, Result& result) {
  const auto& program = run.arguments().rest;
  if (program.empty()) throw no_program();
  run.context().with_ephemeral_server([&](const ServerAddress& server) {
    result.exit_code = run.context().run_program(program, variables_for(server));
  });
}

}  // namespace lockstep::cli
