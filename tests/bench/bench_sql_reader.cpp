#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <functional>
#include <string>

#include "sql/survey.h"

namespace {

constexpr int rows = 20'000;

std::string many(int count, const std::function<std::string(int)>& text) {
  std::string script;
  for (int i = 0; i < count; ++i) script += text(i);
  return script;
}

std::string tables() {
  return many(rows / 10, [](int i) {
    return fmt::format(
        "CREATE TABLE public.customer_order_{0} (\n    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,\n"
        "    customer_id bigint NOT NULL REFERENCES public.customer (id) ON DELETE CASCADE,\n"
        "    status text DEFAULT 'open' NOT NULL,\n    amount numeric(12,2) CHECK (amount > 0)\n);\n\n"
        "-- for the search by customer\nCREATE INDEX customer_order_{0}_idx ON public.customer_order_{0} "
        "(customer_id);\n"
        "COMMENT ON TABLE public.customer_order_{0} IS 'Orders of customers, open and closed ones';\n",
        i);
  });
}

std::string inserts() {
  return many(rows, [](int i) {
    return fmt::format(
        "INSERT INTO reading (id, device, note) VALUES ({}, 'device-{}', 'the day''s reading');\n", i,
        i % 17);
  });
}

std::string one_insert() {
  return "INSERT INTO t VALUES\n" + many(rows, [](int i) {
           return fmt::format("({}, 'name {}', {}.5, NULL, true, '2024-01-01 00:00:00+00'),\n", i, i, i);
         });
}

std::string functions() {
  return many(rows / 10, [](int i) {
    return fmt::format(
        "CREATE OR REPLACE FUNCTION f_{}(a int) RETURNS trigger LANGUAGE plpgsql AS $$\nBEGIN\n"
        "  IF NEW.amount > 100 THEN\n    INSERT INTO audit (who, what) VALUES (current_user, 'changed');\n  "
        "END IF;\n"
        "  RETURN NEW; -- done\nEND;\n$$;\n",
        i);
  });
}

std::string copy() {
  return "COPY t FROM stdin;\n" +
         many(rows, [](int i) { return fmt::format("{}\tname {}\t\\N\t2024-01-01 00:00:00+00\n", i, i); }) +
         "\\.\n";
}

void read(benchmark::State& state, const std::string& script) {
  for (auto _ : state) {
    lockstep::sql::StatementReader reader(lockstep::sql::read_from(script));
    while (const auto item = reader.next()) benchmark::DoNotOptimize(item->text.data());
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(script.size()));
}

void survey(benchmark::State& state, const std::string& script) {
  for (auto _ : state) benchmark::DoNotOptimize(lockstep::sql::survey(lockstep::sql::read_from(script)));
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(script.size()));
}

BENCHMARK_CAPTURE(read, tables, tables());
BENCHMARK_CAPTURE(read, inserts, inserts());
BENCHMARK_CAPTURE(read, one_insert, one_insert());
BENCHMARK_CAPTURE(read, functions, functions());
BENCHMARK_CAPTURE(read, copy, copy());
BENCHMARK_CAPTURE(survey, tables, tables());
BENCHMARK_CAPTURE(survey, inserts, inserts());
BENCHMARK_CAPTURE(survey, copy, copy());

}  // namespace
