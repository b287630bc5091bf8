#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "core/script_rules.h"
#include "core/text.h"

namespace lockstep {
namespace {

/// Names of psql commands, between blanks, that are refused for the same reason.
struct Rule {
  std::string_view names;
  std::string_view reason;
  std::string_view instead;
};

constexpr Rule rules[] = {
    {" c connect ", "a migration stays in the one session that holds the migration lock",
     "Remove it; the database to migrate is named in the URL, and SET ROLE changes the user."},
    {" copy ", "it reads or writes a file of the client",
     "Write COPY … FROM STDIN; followed by the data and a line with \\. alone."},
    {" ! ", "a migration runs no programs", "Run the program before or after lockstep."},
    {" cd setenv getenv o out w write r reset e edit ef ev s p print ", "it is about psql's surroundings",
     "Remove it."},
    {" set unset prompt gset ", "variables of psql are not replaced",
     "Write the values into the statements, or work with variables in a DO block."},
    {" gexec ", "the statements that a query makes are not known before it runs",
     "Run the query in a DO block and EXECUTE what it makes."},
    {" if elif else endif ", "conditions of psql are not evaluated", "Write IF … END IF in a DO block."},
    {" g gx gdesc crosstabview watch ", "results of queries are not shown",
     "End the statement with a semicolon instead."},
    {" bind bind_named parse close_prepared startpipeline endpipeline syncpipeline sendpipeline flush "
     "flushrequest getresults ",
     "statements travel as they are written",
     "Write the values into the statement and end it with a semicolon."},
    {" q quit ", "a migration ends at the end of its file", "Remove it, and what comes after it."},
    {" encoding ", "migrations are UTF-8", "Convert the file (iconv does) and remove this line."},
    {" password ", "it asks for a password", "Set passwords with ALTER ROLE outside of migrations."},
    {" lo_import lo_export lo_list lo_unlink ", "it reads or writes files of the client",
     "Use lo_from_bytea() and lo_unlink() in SQL."},
    {" a C f H html pset t T timing x errverbose conninfo copyright help ? h ",
     "it changes only what psql shows", "Remove it."},
    {" ; ", "\\; sends several statements as one", "Write a semicolon without the backslash."},
    {" : ", "\\: keeps psql from replacing a variable, and none is replaced here",
     "Write the colon without the backslash."},
};

constexpr Rule any_other = {"", "only psql understands it", "Remove it, or write what it does in SQL."};
constexpr Rule describing = {"", "it shows what is in the database and changes nothing", "Remove it."};

const Rule& rule_for(std::string_view name) {
  const auto key = fmt::format(" {} ", name);
  const auto* found = std::find_if(std::begin(rules), std::end(rules), [&key](const Rule& rule) {
    return rule.names.find(key) != std::string_view::npos;
  });
  if (found != std::end(rules)) return *found;
  const bool describes = !name.empty() && (name[0] == 'd' || name[0] == 'l' || name[0] == 'z');
  return describes ? describing : any_other;
}

}  // namespace

Error refused_meta_command(const sql::Remark& command, const ScriptFiles& files) {
  const auto& rule = rule_for(command.name);
  Error error{.kind = ErrorKind::files,
              .code = "meta_command_refused",
              .message = fmt::format("\\{} is a command of psql: {}", printable(command.name), rule.reason),
              .hints = {std::string(rule.instead)}};
  set_place(error, command.place, files.script, files.includes);
  return error;
}

}  // namespace lockstep
