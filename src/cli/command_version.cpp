#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/help.h"
#include "core/text.h"
#include "lockstep_version.h"

namespace lockstep::cli {

void run_version(Run& run, Result& result) {
  result.fields = {{"version", LOCKSTEP_VERSION}, {"libpq", run.context().libpq_version}};
  result.text = version_text(run.context().libpq_version);
}

void run_help(Run& run, Result& result) {
  const auto& operands = run.arguments().operands;
  const auto* const command = operands.empty() ? nullptr : find_command(operands.front());
  if (!operands.empty() && command == nullptr) {
    Error error{.kind = ErrorKind::usage, .code = "unknown_command"};
    error.message = fmt::format("there is no command \"{}\"", printable(operands.front()));
    error.hints = {"See lockstep --help."};
    throw Failure(std::move(error));
  }
  result.text = command == nullptr ? general_help() : command_help(*command);
  result.fields = {{"help", result.text}};
}

}  // namespace lockstep::cli
