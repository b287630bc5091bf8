#include <libpq-fe.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <random>
#include <string>
#include <vector>

#include "cli/redact.h"
#include "support/fake_context.h"

namespace {

using lockstep::cli::Redactor;

/// A text of characters that mean something in URLs, key=value pairs, JSON and shells, and some that do not.
std::string random_secret(std::mt19937& random) {
  static const std::vector<std::string> pieces{"a", "Q", "7", "x", "-", "_", "%",  "@", ":",  "/", "#",   "?",
                                               "&", " ", "+", "^", "=", "~", "\\", "'", "\"", "é", "%41", "<",
                                               ">", "{", "$", "*", ";", ",", "[",  "]", "zz", "9k"};
  std::uniform_int_distribution<std::size_t> length(4, 14);
  std::uniform_int_distribution<std::size_t> piece(0, pieces.size() - 1);
  std::string secret;
  for (auto left = length(random); left > 0; --left) secret += pieces[piece(random)];
  return secret;
}

/// RFC 3986, written again for the test.
std::string encoded(const std::string& text) {
  static constexpr char digits[] = "0123456789ABCDEF";
  std::string result;
  for (const char character : text) {
    const auto c = static_cast<unsigned char>(character);
    if (c < 0x80 && (std::isalnum(c) != 0)) {
      result += character;
    } else {
      result += {'%', digits[c / 16], digits[c % 16]};
    }
  }
  return result;
}

/// The manual's rule for values: single quotes, and a backslash before quotes and backslashes.
std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') result += '\\';
    result += c;
  }
  return result + "'";
}

constexpr std::size_t well_formed_count = 7;

/// Connection strings with this password, the well-formed ones first. In the others a piece of the password
/// may mean something else.
std::vector<std::string> forms(const std::string& secret) {
  const auto url = encoded(secret);
  return {
      "postgresql://deploy:" + url + "@db.example:5432/shop?sslmode=disable",
      "postgres://deploy:" + url + "@db1,db2:5433/shop",
      "postgresql://db.example/shop?user=deploy&password=" + url,
      "postgresql://db.example/shop?sslpassword=" + url + "&sslmode=require",
      "host=db.example user=deploy password=" + quoted(secret) + " dbname=shop",
      "password = " + quoted(secret) + " host=db.example",
      "host=db.example sslpassword=" + quoted(secret),
      // and as people get them wrong
      "postgresql://deploy:" + secret + "@db.example:5432/shop",
      "postgresql://deploy:" + secret + "@db.example",
      "postgresql:/deploy:" + secret + "@db.example/shop",
      "postgress://deploy:" + secret + "@db.example/shop",
      "deploy:" + secret + "@db.example/shop",
      "host=db.example password=" + secret + " dbname=shop",
      "host=db.example password='" + secret + " dbname=shop",
      "host=db.example password='" + secret + "' dbname=shop",
      "postgresql://db.example/shop?password=" + secret,
      "postgresql://db.example/shop?user=deploy&pasword=" + url,
  };
}

/// What libpq itself says about a connection string: nothing, or an error that quotes parts of it.
std::string libpq_error(const std::string& conninfo) {
  char* message = nullptr;
  PQconninfoOption* const options = PQconninfoParse(conninfo.c_str(), &message);
  std::string text = message == nullptr ? "" : message;
  PQfreemem(message);
  PQconninfoFree(options);
  return text;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a password never comes through, whatever form the connection string has") {
  std::mt19937 random(20261129);
  for (int round = 0; round < 200; ++round) {
    const auto secret = random_secret(random);
    const auto all = forms(secret);
    for (std::size_t index = 0; index < all.size(); ++index) {
      const auto& conninfo = all[index];
      Redactor redactor;
      redactor.learn_conninfo(conninfo);
      std::vector<std::string> texts{conninfo, libpq_error(conninfo),
                                     "could not connect: " + conninfo + "\n"};
      if (index < well_formed_count) {
        texts.insert(texts.end(), {secret, encoded(secret), quoted(secret), "x" + secret + "y" + secret});
      }
      for (const auto& text : texts) {
        const auto masked = redactor(text);
        CAPTURE(secret, conninfo, text, masked);
        REQUIRE_FALSE(contains(masked, secret));
        REQUIRE_FALSE(contains(masked, encoded(secret)));
      }
    }
  }
}

TEST_CASE("pieces of a password that libpq quotes in its errors are masked, too") {
  std::mt19937 random(7);
  std::uniform_int_distribution<int> digit(0, 9);
  const auto number = [&] {
    std::string text;
    while (text.size() < 6) text += std::to_string(digit(random));
    return text;
  };
  for (const std::string separator : {"@", "/", ":", "?", "#", " ", "%", "'", "\\", "=", "&"}) {
    const auto first = "p" + number();
    const auto second = "q" + number();
    for (const auto& conninfo : forms(first + separator + second)) {
      Redactor redactor;
      redactor.learn_conninfo(conninfo);
      const auto masked = redactor(libpq_error(conninfo));
      CAPTURE(conninfo, libpq_error(conninfo), masked);
      CHECK_FALSE(contains(masked, first));
      CHECK_FALSE(contains(masked, second));
    }
  }
}

TEST_CASE("the password that libpq reads out of a connection string is masked") {
  const auto conninfo =
      GENERATE(as<std::string>{},  //
               "postgresql://u:p%40ss%2Fw0rd@h/db", "postgresql://u:caf%C3%A9-1234@h/db",
               "postgresql://u@h/db?password=a%26b%3Dc1234", "host=h password='it\\'s \\\\ me'",
               "host = h password = plain-word dbname=x", "password=back\\ slash\\'d host=h");
  char* message = nullptr;
  PQconninfoOption* const options = PQconninfoParse(conninfo.c_str(), &message);
  REQUIRE(options != nullptr);
  std::string password;
  for (const auto* option = options; option->keyword != nullptr; ++option) {
    if (std::string(option->keyword) == "password" && option->val != nullptr) password = option->val;
  }
  PQconninfoFree(options);
  REQUIRE_FALSE(password.empty());

  Redactor redactor;
  redactor.learn_conninfo(conninfo);
  CHECK(redactor("<" + password + ">") == "<***>");
  CHECK_FALSE(contains(redactor(conninfo), password));
}

TEST_CASE("the rest of a connection string stays readable") {
  Redactor redactor;
  redactor.learn_conninfo("postgresql://deploy:s3cr3t-pw@db.example:5432/shop?sslmode=require");
  CHECK(redactor("postgresql://deploy:s3cr3t-pw@db.example:5432/shop?sslmode=require") ==
        "postgresql://deploy:***@db.example:5432/shop?sslmode=require");
  CHECK(redactor("host=db.example password='s3cr3t-pw' user=deploy") ==
        "host=db.example password=*** user=deploy");
}

TEST_CASE("a very short password does not turn ordinary text into stars") {
  const auto secret = GENERATE(as<std::string>{}, "a", "1", "in", "the");
  Redactor redactor;
  redactor.learn_conninfo("postgresql://deploy:" + secret + "@db.example/shop");
  CHECK(redactor("applied 11 migrations in the database: a b") ==
        "applied 11 migrations in the database: a b");
  CHECK(redactor("postgresql://deploy:" + secret + "@db.example/shop") ==
        "postgresql://deploy:***@db.example/shop");
  CHECK(redactor("password=" + secret + " host=x") == "password=*** host=x");
  CHECK(redactor("invalid port number: \"" + secret + "\"") == "invalid port number: \"***\"");
}

TEST_CASE("a password that is also the user's name does not hide the name") {
  Redactor redactor;
  redactor.learn_conninfo("postgresql://postgres:postgres@localhost/postgres");
  CHECK(redactor("connected to database postgres as postgres") ==
        "connected to database postgres as postgres");
  CHECK(redactor("postgresql://postgres:postgres@localhost/postgres") ==
        "postgresql://postgres:***@localhost/postgres");
}

TEST_CASE("a password that nobody has learned is masked where a password stands") {
  const Redactor redactor;
  CHECK(redactor("try postgres://u:unknown-pw@h/db") == "try postgres://u:***@h/db");
  CHECK(redactor("password=unknown sslpassword='two words' user=u") == "password=*** sslpassword=*** user=u");
}

TEST_CASE("in SQL only learned secrets are masked") {
  Redactor redactor;
  redactor.learn("s3cr3t-pw");
  CHECK(redactor.learned_only("select 'password=x', 's3cr3t-pw'") == "select 'password=x', '***'");
}

TEST_CASE("no command shows the password, whatever goes wrong") {
  const std::string secret = "s3cr3t-pw/%@x";
  for (const auto& conninfo : forms(secret)) {
    for (const std::string command : {"config", "info", "migrat", "migrate"}) {
      for (const std::string output : {"text", "json"}) {
        lockstep::test::FakeWorld world;
        world.connect_error = lockstep::Error{.kind = lockstep::ErrorKind::connection,
                                              .code = "connection_failed",
                                              .message = "cannot connect to " + conninfo,
                                              .detail = libpq_error(conninfo),
                                              .context = secret,
                                              .hints = {"Look at " + conninfo + "."}};
        const auto outcome =
            world.run({command, "--url", conninfo, "--output", output, "--log-format", output, "-v"});
        CAPTURE(conninfo, outcome.out, outcome.err);
        for (const auto& shown : {outcome.out, outcome.err}) {
          CHECK_FALSE(contains(shown, secret));
          CHECK_FALSE(contains(shown, encoded(secret)));
          CHECK_FALSE(contains(shown, "s3cr3t-pw"));
        }
      }
    }
  }
}
