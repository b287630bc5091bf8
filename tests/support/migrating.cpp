#include "support/migrating.h"

namespace lockstep::test {

MigrationDir::MigrationDir(Files files) {
  for (const auto& [name, text] : files) write(name, text);
}

Command MigrationDir::migrate(const std::string& url, std::vector<std::string> more) const {
  std::vector<std::string> args{"migrate", "--url", url, "--dir", path()};
  args.insert(args.end(), more.begin(), more.end());
  return lockstep(std::move(args));
}

std::vector<Outcome> run_at_once(int count, const Command& command, std::chrono::milliseconds deadline) {
  std::vector<Running> runs;
  for (int i = 0; i < count; ++i) runs.emplace_back(command);
  std::vector<Outcome> outcomes;
  for (auto& run : runs) outcomes.push_back(run.wait(deadline));
  return outcomes;
}

std::string applied_versions(const TestDatabase& database) {
  return database.psql("select version from lockstep_history where state = 'applied' order by rank");
}

Gate::Gate(const TestDatabase& database) : database_(database), holder_(database) {
  database.psql("create table gate ()");
  holder_.run("begin; lock table gate in exclusive mode;");
}

int Gate::wait_for_knock() {
  std::string pid;
  wait_until("a migration at the gate", [&] {
    pid = database_.psql(
        "select pid from pg_catalog.pg_locks where relation = 'gate'::regclass and not granted limit 1");
    return !pid.empty();
  });
  return std::stoi(pid);
}

}  // namespace lockstep::test
