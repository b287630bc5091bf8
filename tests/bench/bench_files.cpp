#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <map>
#include <memory>
#include <string>

#include "files/find.h"
#include "files/load.h"
#include "support/temp_dir.h"

namespace {

using lockstep::test::TempDir;

/// A location with `count` one-table migrations, made once.
const std::string& location(std::int64_t count) {
  static std::map<std::int64_t, std::unique_ptr<TempDir>> made;
  static std::map<std::int64_t, std::string> paths;
  if (made[count]) return paths[count];
  made[count] = std::make_unique<TempDir>();
  for (std::int64_t i = 1; i <= count; ++i) {
    made[count]->write_file(
        fmt::format("V{}__create_table_{}.sql", i, i),
        fmt::format("create table t_{} (\n  id bigint primary key,\n  name text not null\n);\n", i));
  }
  return paths[count] = made[count]->string();
}

void find(benchmark::State& state) {
  const std::vector<std::string> locations = {location(state.range(0))};
  for (auto _ : state) benchmark::DoNotOptimize(lockstep::files::find_scripts(locations));
}

void load(benchmark::State& state) {
  const std::vector<std::string> locations = {location(state.range(0))};
  for (auto _ : state) {
    const auto local = lockstep::files::load_migrations(locations);
    if (!local.problems.empty()) state.SkipWithError("the files have problems");
  }
}

BENCHMARK(find)->Arg(1000)->Arg(10000)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(load)->Arg(100)->Arg(1000)->Arg(10000)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
