#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/completion.h"
#include "core/text.h"

namespace lockstep::cli {

void run_completion(Run& run, Result& result) {
  const auto& operands = run.arguments().operands;
  const auto shell = operands.empty() ? std::string{} : operands.front();
  const auto script = completion_script(shell);
  if (!script) {
    Error error{.kind = ErrorKind::usage, .code = "unknown_shell"};
    error.message = shell.empty() ? std::string("completion needs the name of a shell")
                                  : fmt::format("no completion for \"{}\"", printable(shell));
    error.hints = {"The shells are bash, zsh and fish."};
    throw Failure(std::move(error));
  }
  result.fields = {{"shell", shell}, {"script", *script}};
  result.text = *script;
}

}  // namespace lockstep::cli
