#include <catch2/catch_test_macros.hpp>
#include <string>

#include "support/migrating.h"
#include "support/program.h"
#include "support/test_database.h"

namespace lockstep::test {
namespace {

constexpr const char* question = "Change 1 row of the history? [y/N] ";
constexpr const char* ctrl_c = "\x03";
constexpr const char* ctrl_d = "\x04";

/// A migration that was applied, and edited since.
class EditedShop {
 public:
  EditedShop() {
    REQUIRE(run(files_.migrate(database_.url())).exit_code == 0);
    files_.write("V1__users.sql", "create table users (id bigint primary key);\n");
    before_ = checksum();
  }

  /// `lockstep repair` on a terminal of its own, at whose keyboard the test sits.
  Running repair() const {
    Command command{
        .argv = {"script", "--quiet", "--return", "--command", lockstep_binary() + " repair", "/dev/null"},
        .env = {{"LOCKSTEP_URL", database_.url()}, {"LOCKSTEP_MIGRATIONS_DIRS", files_.path()}},
        .standard_input = Stdin::pipe};
    Running running(command);
    running.wait_for_output(question);
    return running;
  }

  bool repaired() const { return checksum() != before_; }

 private:
  std::string checksum() const { return database_.psql("select checksum from lockstep_history"); }

  TestDatabase database_;
  MigrationDir files_ = MigrationDir({{"V1__users.sql", "create table users (id bigint);\n"}});
  std::string before_;
};

}  // namespace

TEST_CASE("repair on a terminal takes the answer of the keyboard") {
  const EditedShop shop;
  for (const std::string answer : {"n\n", "\n", ctrl_d}) {
    auto refused = shop.repair();
    refused.write(answer);
    CHECK(refused.wait().exit_code == 1);
    CHECK_FALSE(shop.repaired());
  }
  auto agreed = shop.repair();
  agreed.write("y");
  agreed.write("es\n");
  CHECK(agreed.wait().exit_code == 0);
  CHECK(shop.repaired());
}

TEST_CASE("Ctrl-C at a question ends the run, and nothing is changed") {
  const EditedShop shop;
  auto running = shop.repair();
  running.write(ctrl_c);
  CHECK(running.wait().exit_code == 130);
  CHECK_FALSE(shop.repaired());
}

}  // namespace lockstep::test
