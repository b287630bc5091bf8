#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "cli/log.h"
#include "cli/text_table.h"
#include "support/fake_context.h"

using namespace lockstep;
using namespace lockstep::cli;
using namespace lockstep::test;

namespace {

const Step second{fake_migration("V2__orders.sql")};
const AppliedStep done{.rank = 2, .statements = 3, .duration = Milliseconds(1400)};

/// A log on a stream that tests can read.
struct Recorded {
  std::ostringstream stream = {};
  Redactor redactor = {};
  std::unique_ptr<Log> log = {};

  explicit Recorded(LogOptions options) {
    options.now = [] { return std::chrono::system_clock::time_point(Milliseconds(1767323045678)); };
    log = make_log(stream, redactor, std::move(options));
  }

  std::string text() const { return stream.str(); }

  /// The lines of a JSON log.
  std::vector<nlohmann::json> json() const {
    std::vector<nlohmann::json> result;
    std::istringstream lines(text());
    for (std::string line; std::getline(lines, line);) result.push_back(nlohmann::json::parse(line));
    return result;
  }
};

/// What a terminal shows after this output: only "\r" and the sequence that clears a line move the cursor.
std::string on_screen(const std::string& output) {
  std::string screen;
  std::string line;
  for (std::size_t at = 0; at < output.size(); ++at) {
    if (output[at] == '\n') {
      screen += line + "\n";
      line.clear();
    } else if (output.compare(at, 5, "\r\x1b[2K") == 0) {
      line.clear();
      at += 4;
    } else {
      line += output[at];
    }
  }
  return screen + line;
}

Plan plan_of(std::size_t steps) {
  Plan plan;
  for (std::size_t number = 0; number < steps; ++number) plan.steps.push_back(second);
  return plan;
}

}  // namespace

TEST_CASE("the progress line of a terminal is gone before anything else is written") {
  Recorded recorded({.progress = Progress::live, .width = 80});
  recorded.log->planned(plan_of(5));
  recorded.log->started(second);
  CHECK(on_screen(recorded.text()) == "[1/5] V2__orders.sql …");
  recorded.log->noticed(second, {.severity = "NOTICE", .message = "hello", .sqlstate = "00000"});
  CHECK(on_screen(recorded.text()) == "V2__orders.sql …\n  NOTICE: hello\n");
  recorded.log->finished(second, done);
  CHECK(on_screen(recorded.text()) ==
        "V2__orders.sql …\n  NOTICE: hello\nV2__orders.sql … done in 1.4 s (3 statements)\n");
}

TEST_CASE("a callback has a progress line of its own, and is no migration that counts") {
  Recorded recorded({.progress = Progress::live, .width = 80});
  const Step callback{fake_migration("beforeMigrate.sql")};
  recorded.log->planned(plan_of(5));
  recorded.log->started(callback);
  CHECK(on_screen(recorded.text()) == "beforeMigrate.sql …");
  recorded.log->finished(callback, {.statements = 2, .duration = Milliseconds(3)});
  recorded.log->started(second);
  CHECK(on_screen(recorded.text()) ==
        "beforeMigrate.sql … done in 3 ms (2 statements)\n[1/5] V2__orders.sql …");
}

TEST_CASE("the progress line is no wider than the terminal") {
  Recorded recorded({.progress = Progress::live, .width = 12});
  recorded.log->planned(plan_of(1));
  recorded.log->started(second);
  CHECK(on_screen(recorded.text()) == "[1/1] V2__o…");
  Recorded wide({.progress = Progress::live, .width = 12});
  wide.log->planned(plan_of(1));
  wide.log->started({fake_migration("V2__注文書.sql")});
  CHECK(on_screen(wide.text()) == "[1/1] V2__…");
}

TEST_CASE("an error and the end of the run remove the progress line") {
  Recorded recorded({.progress = Progress::live});
  recorded.log->started(second);
  recorded.log->failed({.message = "broken"});
  CHECK(on_screen(recorded.text()) == "error: broken\n");
  recorded.log->started(second);
  recorded.log->settle();
  CHECK(on_screen(recorded.text()) == "error: broken\n");
}

TEST_CASE("plain progress is a line when a migration starts") {
  Recorded recorded({.progress = Progress::plain});
  recorded.log->started(second);
  recorded.log->finished(second, done);
  CHECK(recorded.text() == "V2__orders.sql …\nV2__orders.sql … done in 1.4 s (3 statements)\n");
}

TEST_CASE("a migration that goes on says where") {
  auto resumed = second;
  resumed.resumes = fake_row(second.migration, 2);
  resumed.resumes->statements_done = 4;
  Recorded recorded({});
  recorded.log->started(resumed);
  recorded.log->finished(resumed, done);
  CHECK(recorded.text() ==
        "V2__orders.sql …\n  goes on after 4 statements of an earlier run\n"
        "V2__orders.sql … done in 1.4 s (3 statements)\n");
}

TEST_CASE("what the server says cannot control the terminal") {
  Recorded recorded({});
  recorded.log->noticed(second, {.severity = "NOTICE", .message = "a\x1b[31mb\r", .sqlstate = "00000"});
  recorded.log->failed({.message = "x\x1b]0;title\x07"});
  CHECK(recorded.text().find('\x1b') == std::string::npos);
  CHECK(recorded.text().find('\r') == std::string::npos);
  CHECK(recorded.text().find('\x07') == std::string::npos);
}

TEST_CASE("colours are for terminals without NO_COLOR, or when asked for") {
  const auto escapes = [](FakeWorld world, const std::vector<std::string>& arguments) {
    world.add_file("V1__a.sql");
    const auto outcome = world.run(arguments);
    return outcome.out.find('\x1b') != std::string::npos || outcome.err.find('\x1b') != std::string::npos;
  };
  FakeWorld world;
  CHECK_FALSE(escapes(world, {"info"}));
  CHECK(escapes(world, {"info", "--color", "always"}));
  world.out_terminal.is_terminal = true;
  CHECK(escapes(world, {"info"}));
  CHECK_FALSE(escapes(world, {"info", "--color", "never"}));
  world.environment["NO_COLOR"] = "1";
  CHECK_FALSE(escapes(world, {"info"}));
  world.environment.erase("NO_COLOR");
  world.environment["TERM"] = "dumb";
  CHECK_FALSE(escapes(world, {"info"}));
}

TEST_CASE("each colour is the one of its word") {
  constexpr auto on = Coloring::on;
  CHECK(paint("a", Color::bold, on) == "\x1b[1ma\x1b[0m");
  CHECK(paint("a", Color::dim, on) == "\x1b[2ma\x1b[0m");
  CHECK(paint("a", Color::red, on) == "\x1b[31ma\x1b[0m");
  CHECK(paint("a", Color::green, on) == "\x1b[32ma\x1b[0m");
  CHECK(paint("a", Color::yellow, on) == "\x1b[33ma\x1b[0m");
  CHECK(paint("a", Color::none, on) == "a");
  CHECK(paint("", Color::red, on).empty());
  CHECK(paint("a", Color::red, Coloring::off) == "a");
}

TEST_CASE("an error begins in red") {
  Recorded recorded({.coloring = Coloring::on});
  recorded.log->failed({.message = "broken"});
  CHECK(recorded.text() == "\x1b[31merror:\x1b[0m broken\n");
}

TEST_CASE("progress is drawn on terminals only, and not on a dumb one") {
  const auto draws = [](FakeWorld world, const std::vector<std::string>& arguments) {
    world.add_file("V1__a.sql");
    return world.run(arguments).err.find('\r') != std::string::npos;
  };
  FakeWorld world;
  CHECK_FALSE(draws(world, {"migrate"}));
  world.err_terminal.is_terminal = true;
  CHECK(draws(world, {"migrate"}));
  CHECK_FALSE(draws(world, {"migrate", "--progress", "none"}));
  CHECK_FALSE(draws(world, {"migrate", "--progress", "plain"}));
  CHECK_FALSE(draws(world, {"migrate", "-q"}));
  CHECK_FALSE(draws(world, {"migrate", "--log-format", "json"}));
  world.environment["TERM"] = "dumb";
  CHECK_FALSE(draws(world, {"migrate"}));
}

TEST_CASE("JSON log lines carry run, lock, event and migration") {
  FakeWorld world;
  world.add_file("V1__a.sql");
  world.server.notices["V1__a.sql"] = {{.severity = "WARNING", .message = "careful", .sqlstate = "01000"}};
  const auto outcome = world.run({"migrate", "--log-format", "json"});
  std::vector<std::string> events;
  std::istringstream lines(outcome.err);
  for (std::string line; std::getline(lines, line);) {
    const auto json = nlohmann::json::parse(line);
    CHECK(json["run_id"] == "00000000-0000-4000-8000-000000000001");
    CHECK(json["command"] == "migrate");
    CHECK(json["lock_namespace"] == 1280262987);
    CHECK(json["lock_resource"] == 77);
    CHECK(json["time"].get<std::string>().starts_with("2026-01-02T03:04:05."));
    CHECK(json["message"].is_string());
    const auto event = json["event"].get<std::string>();
    events.push_back(json["level"].get<std::string>() + " " + event);
    if (event == "started" || event == "finished" || event == "notice") {
      CHECK(json["script"] == "V1__a.sql");
      CHECK(json["version"] == "1");
    }
  }
  CHECK(events == std::vector<std::string>{"info connected", "info planned", "info started", "warning notice",
                                           "info finished"});
  CHECK(outcome.out == "applied 1 migration in 12 ms: database shop is at version 1\n");
}

TEST_CASE("the JSON log has what a run waits for as fields") {
  const LockHolder holder{.pid = 42, .application = "psql", .query = "select 1"};
  Recorded recorded({.format = LogFormat::json});
  recorded.log->waiting(holder, Milliseconds(250));
  recorded.log->running(second,
                        {.running = Milliseconds(3000), .waits_for = "Lock: relation", .blockers = {holder}});
  recorded.log->running(second, {.running = Milliseconds(9000), .progress = "building index, 40 %"});
  recorded.log->retrying(second, {.message = "no lock", .sqlstate = "55P03", .detail = "held by psql"},
                         Milliseconds(80));

  const auto lines = recorded.json();
  REQUIRE(lines.size() == 4);
  CHECK(lines[0]["event"] == "waiting");
  CHECK(lines[0]["level"] == "info");
  CHECK(lines[0]["waited_ms"] == 250);
  CHECK(lines[0]["holder"] == nlohmann::json{{"pid", 42},
                                             {"application", "psql"},
                                             {"user", nullptr},
                                             {"client", nullptr},
                                             {"since", nullptr},
                                             {"state", nullptr},
                                             {"query", "select 1"}});
  CHECK(lines[1]["event"] == "running");
  CHECK(lines[1]["script"] == "V2__orders.sql");
  CHECK(lines[1]["running_ms"] == 3000);
  CHECK(lines[1]["waits_for"] == "Lock: relation");
  CHECK(lines[1]["progress"].is_null());
  CHECK(lines[1]["blockers"] == nlohmann::json::array({lines[0]["holder"]}));
  CHECK(lines[2]["waits_for"].is_null());
  CHECK(lines[2]["progress"] == "building index, 40 %");
  CHECK(lines[2]["blockers"].empty());
  CHECK(lines[3]["event"] == "retrying");
  CHECK(lines[3]["level"] == "warning");
  CHECK(lines[3]["sqlstate"] == "55P03");
  CHECK(lines[3]["detail"] == "held by psql");
  CHECK(lines[3]["pause_ms"] == 80);
}

TEST_CASE("a quiet JSON log has warnings and no notes") {
  for (const auto verbosity : {Verbosity::normal, Verbosity::quiet}) {
    Recorded recorded({.format = LogFormat::json, .verbosity = verbosity});
    recorded.log->note("the server is not there yet");
    recorded.log->warning("others can read this file");
    recorded.log->waiting({.pid = 42}, Milliseconds(0));
    std::vector<std::string> events;
    for (const auto& line : recorded.json())
      events.push_back(line["level"].get<std::string>() + " " + line["event"].get<std::string>());
    const std::vector<std::string> all{"info note", "warning warning", "info waiting"};
    CHECK(events == (verbosity == Verbosity::quiet ? std::vector{all[1]} : all));
  }
}

TEST_CASE("in the JSON log an error is a line, also beside a JSON document") {
  FakeWorld world;
  world.connect_error = Error{.kind = ErrorKind::connection, .code = "connection_failed", .message = "no"};
  for (const std::string output : {"text", "json"}) {
    const auto outcome = world.run({"info", "--log-format", "json", "--output", output});
    const auto json = nlohmann::json::parse(outcome.err);
    CHECK(json["level"] == "error");
    CHECK(json["event"] == "failed");
    CHECK(json["code"] == "connection_failed");
    CHECK(json["message"] == "no");
  }
}

TEST_CASE("verbose tells session, history and lock") {
  FakeWorld world;
  CHECK(world.run({"info", "-v"}).err ==
        "connected to database shop as deploy, server 15.18, backend 4711; run "
        "00000000-0000-4000-8000-000000000001\n"
        "history public.lockstep_history, lock (1280262987, 77)\n");
}

TEST_CASE("a table leaves out empty columns and keeps cells on one line") {
  TextTable table({"a", "empty", "long title", "z"});
  table.add({{"1"}, {}, {"x\ny"}, {"\x1b[0m"}});
  table.add({{"22"}, {}, {}, {}});
  CHECK(table.render(Coloring::off) ==
        "a   long title  z\n"
        "1   x y         \\x1b[0m\n"
        "22\n");
}
