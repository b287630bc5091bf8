#include "cli/app.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <ostream>
#include <utility>

#include "cli/arguments.h"
#include "cli/help.h"
#include "cli/run.h"
#include "lockstep_version.h"

namespace lockstep::cli {
namespace {

Error our_own_fault(std::string_view what) {
  Error error{.kind = ErrorKind::internal, .code = "internal"};
  error.message = fmt::format("internal error: {}", what);
  error.hints = {fmt::format("This is a fault of lockstep {} itself: please report it.", LOCKSTEP_VERSION)};
  return error;
}

/// What `action` throws is added to the problems: the first one of all stays first.
template <typename Action>
void guarded(Result& result, Action action) {
  try {
    action();
  } catch (const Failure& failure) {
    result.problems.insert(result.problems.end(), failure.errors().begin(), failure.errors().end());
  } catch (const std::bad_alloc&) {
    result.problems.push_back(out_of_memory());
  } catch (const std::exception& error) {
    result.problems.push_back(our_own_fault(error.what()));
  }
}

Error usage_error(std::string code, std::string message, std::string hint) {
  Error error{.kind = ErrorKind::usage, .code = std::move(code), .message = std::move(message)};
  error.hints.push_back(std::move(hint));
  return error;
}

int exit_code_of(const Result& result) {
  if (!result.problems.empty()) return exit_code(result.problems.front().kind);
  return result.exit_code.value_or(0);
}

/// The JSON contract: one document, the same shape on success and failure.
Json document(std::string_view command, const Result& result) {
  Json json = {{"ok", exit_code_of(result) == 0},
               {"command", text_or_null(command)},
               {"exit_code", exit_code_of(result)},
               {"error", result.problems.empty() ? Json() : to_json(result.problems.front())}};
  if (result.problems.size() > 1) {
    for (const auto& problem : result.problems) json["errors"].push_back(to_json(problem));
  }
  json.update(result.fields);
  return json;
}

enum class ResultForm { text, json };

void show(Run& run, const Result& result, ResultForm form) {
  run.log().settle();
  const auto* const command = run.arguments().command;
  if (form == ResultForm::json) {
    const auto json = redacted(document(command == nullptr ? "" : command->name, result), run.redactor());
    run.out().write_masked(to_text(json, Layout::document));
  } else if (!result.text.empty()) {
    run.out().write(result.text);
  }
}

void show_problems(Run& run, const Result& result, ResultForm form) {
  // A JSON document holds its problems; the log of machines has them, too.
  if (form == ResultForm::json && run.settings().log_format == LogFormat::text) return;
  for (const auto& problem : result.problems) run.log().failed(problem);
}

int finish(Run& run, Result& result, ResultForm form) {
  const auto shown = result.problems.size();
  guarded(result, [&] { show(run, result, form); });
  const bool output_failed = result.problems.size() > shown;
  show_problems(run, result, output_failed ? ResultForm::text : form);
  return exit_code_of(result);
}

void check_ephemeral(const Arguments& arguments) {
  if (arguments.command->needs != Needs::database) {
    throw Failure(usage_error(
        "unexpected_option",
        fmt::format("{} does not take --ephemeral: it needs no database", arguments.command->name),
        "Leave --ephemeral out."));
  }
  for (const auto& flag : arguments.settings) {
    if (flag.key != "database.url") continue;
    throw Failure(usage_error("conflicting_options", "--ephemeral and --url exclude each other",
                              "Leave one of them out."));
  }
}

void run_command(Run& run, Result& result) {
  const auto& arguments = run.arguments();
  const bool ephemeral = arguments.has("--ephemeral");
  if (ephemeral) check_ephemeral(arguments);
  if (arguments.command->needs != Needs::nothing) run.settle();
  if (!ephemeral) return arguments.command->run(run, result);
  run.context().with_ephemeral_server([&](const ServerAddress& server) {
    run.use_server(server);
    arguments.command->run(run, result);
  });
}

/// `lockstep baseline --version 7` means another version.
bool takes_version(const CommandSpec* command) {
  if (command == nullptr) return false;
  return std::any_of(command->options.begin(), command->options.end(),
                     [](const auto& option) { return option.names == "--version"; });
}

/// What is answered without running a command. True when it was.
bool answered(Run& run, Result& result) {
  const auto& arguments = run.arguments();
  if (arguments.has("--help")) {
    result.text = arguments.command == nullptr ? general_help() : command_help(*arguments.command);
    return true;
  }
  if (arguments.has("--version") && !takes_version(arguments.command)) {
    result.text = version_text(run.context().libpq_version);
    return true;
  }
  return false;
}

ResultForm form_of(OutputFormat format) {
  return format == OutputFormat::json ? ResultForm::json : ResultForm::text;
}

int without_command(Run& run, Result& result, ResultForm form) {
  if (form == ResultForm::text) {
    run.context().err << general_help() << std::flush;
    return exit_code(ErrorKind::usage);
  }
  result.problems.push_back(usage_error("no_command", "there is no command", "See lockstep --help."));
  return finish(run, result, form);
}

int run_guarded(const Context& context, const std::vector<std::string>& words) {
  auto form = wants_json(words, context.environment) ? ResultForm::json : ResultForm::text;
  Result result;
  Arguments arguments;
  guarded(result, [&] { arguments = parse_arguments(words); });
  if (!result.problems.empty()) arguments.command = named_command(words);
  if (arguments.command != nullptr) result.fields = Json::parse(arguments.command->members);
  Run run(context, std::move(arguments), words);
  if (!result.problems.empty()) return finish(run, result, form);
  if (answered(run, result)) return finish(run, result, ResultForm::text);
  if (run.arguments().command == nullptr) return without_command(run, result, form);
  guarded(result, [&] { run_command(run, result); });
  if (run.is_settled()) form = form_of(run.settings().output);
  return finish(run, result, form);
}

}  // namespace

int run(const Context& context, const std::vector<std::string>& arguments) {
  try {
    return run_guarded(context, arguments);
  } catch (const std::exception& error) {
    context.err << render(our_own_fault(error.what())) << std::flush;
    return exit_code(ErrorKind::internal);
  }
}

}  // namespace lockstep::cli
