#include "core/script_checksum.h"

#include <catch2/catch_test_macros.hpp>

namespace lockstep {
namespace {

void read_all(const sql::ReadBytes& read) {
  std::string buffer(7, '\0');
  while (read(buffer.data(), buffer.size()) > 0) continue;
}

}  // namespace

TEST_CASE("a migration without included files has the checksum of its file") {
  ScriptChecksum sum;
  sum.update("select 1;\n");
  CHECK(sum.finish() == checksum("select 1;\n"));
}

TEST_CASE(
    "with included files it is that of the list of all checksums, in the order in which they were opened") {
  ScriptChecksum sum;
  const auto a = sum.watch(sql::read_from("a\r\n"));
  const auto b = sum.watch(sql::read_from("b\n"));
  sum.update("\\i a\n");
  read_all(b);
  sum.update("\\i c\n");
  read_all(a);
  const std::string own = "\\i a\n\\i c\n";
  CHECK(sum.finish() == checksum(checksum(own) + "\n" + checksum("a") + "\n" + checksum("b") + "\n"));
}

}  // namespace lockstep
