#include "support/fake_context.h"

#include <memory>
#include <streambuf>

#include "cli/app.h"

namespace lockstep::test {
namespace {

/// Takes nothing, as a pipe whose reader is gone.
class ClosedBuffer : public std::streambuf {
 protected:
  int_type overflow(int_type) override { return traits_type::eof(); }
  std::streamsize xsputn(const char*, std::streamsize) override { return 0; }
};

}  // namespace

CliOutcome FakeWorld::run(const std::vector<std::string>& arguments) {
  std::ostringstream good_out;
  ClosedBuffer closed;
  std::ostream bad_out(&closed);
  std::ostringstream err;
  std::istringstream in(input);
  cli::Context context{.out = closed_output ? bad_out : good_out, .err = err};
  context.out_terminal = out_terminal;
  context.err_terminal = err_terminal;
  context.in_is_terminal = interactive;
  context.environment = environment;
  context.libpq_version = "15.18";
  context.load = [&](const std::vector<std::string>& dirs, const sql::Placeholders& placeholders) {
    loaded_dirs = dirs;
    loaded_placeholders = placeholders;
    return local;
  };
  context.connect = [&](const SessionOptions& options, Reporter& reporter) -> std::unique_ptr<Database> {
    session = options;
    for (const auto& note : connect_notes) reporter.note(note);
    if (connect_error) throw Failure(*connect_error);
    return std::make_unique<FakeDatabase>(server);
  };
  context.read_text_file = [&](const std::string& path) -> std::optional<cli::TextFile> {
    const auto found = files.find(path);
    return found == files.end() ? std::nullopt : std::optional(found->second);
  };
  context.write_new_file = [&](const std::string& path, std::string_view text) {
    written.emplace(path, text);
  };
  context.read_answer = [&]() -> std::optional<std::string> {
    std::string answer;
    return std::getline(in, answer) ? std::optional(answer) : std::nullopt;
  };
  context.random_uuid = [] { return "00000000-0000-4000-8000-000000000001"; };
  context.now = [&] {
    return std::chrono::system_clock::time_point(Milliseconds(1767323045678) + server.passed);
  };
  context.with_ephemeral_server = [&](const std::function<void(const cli::ServerAddress&)>& use) {
    ++ephemeral_servers;
    use({.url = "postgresql://postgres@/postgres?host=/run/throwaway",
         .variables = {{"PGHOST", "/run/throwaway"}, {"PGUSER", "postgres"}, {"PGDATABASE", "postgres"}}});
  };
  context.run_program = [&](const std::vector<std::string>& argv, const cli::Environment& variables) {
    program = argv;
    program_variables = variables;
    return program_status;
  };
  CliOutcome outcome;
  outcome.exit_code = cli::run(context, arguments);
  outcome.out = good_out.str();
  outcome.err = err.str();
  return outcome;
}

}  // namespace lockstep::test
