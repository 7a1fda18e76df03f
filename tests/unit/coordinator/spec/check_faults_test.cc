#include <gtest/gtest.h>

#include "coordinator/spec/spec_check.h"
#include "spec_texts.h"

namespace cavalry::spec {
namespace {

// A change of GoodSpec() and the error it makes.
struct Case {
  const char* name;
  std::string from;
  std::string to;
  std::string error;
};

class CheckFault : public testing::TestWithParam<Case> {};

TEST_P(CheckFault, NamesPlaceAndRemedy) {
  EXPECT_EQ(CheckError(Changed(GetParam().from, GetParam().to)), GetParam().error);
}

std::string NameOf(const testing::TestParamInfo<Case>& test) { return test.param.name; }

const char* const kSql = "  sql:\n    mysql: { database: test }\n";

INSTANTIATE_TEST_SUITE_P(
    Targets, CheckFault,
    testing::Values(
        Case{"NoDatabase", "{ database: test }", "{ port: 3307 }",
             "t.yaml:3:5: targets.sql.mysql: database is needed: the one that holds the tables"},
        Case{
            "UnixWithoutSocket", "{ database: test }", "{ database: test, transport: unix }",
            "t.yaml:3:5: targets.sql.mysql: transport: unix needs socket, the path of the server's "
            "Unix socket"},
        Case{"PortZero", "{ database: test }", "{ database: test, port: 0 }",
             "t.yaml:3:30: targets.sql.mysql.port: 0 is not a port: 1 to 65535"},
        Case{"PortTooLarge", "{ database: test }", "{ database: test, port: 70000 }",
             "t.yaml:3:30: targets.sql.mysql.port: 70000 is not a port: 1 to 65535"},
        Case{"WritePortTooLarge", "{ secret: { from: sql } }", "{ write_port: 65536 }",
             "t.yaml:5:22: targets.hs.handlersocket.write_port: 65536 is not a port: 1 to 65535"},
        Case{"LongDatabase", "{ database: test }", "{ database: " + std::string(65, 'd') + " }",
             "t.yaml:3:14: targets.sql.mysql.database: the database's name is longer than 64 "
             "characters"},
        Case{"TargetWithoutKind", "    mysql: { database: test }\n", "    tables_of: sql\n",
             "t.yaml:2:3: targets.sql: names no kind; write 'mysql: { ... }' or 'handlersocket: { "
             "... }'"},
        Case{"HandlersocketWithoutOwner", "    tables_of: sql\n", "",
             "t.yaml:4:3: targets.hs: handlersocket can neither create nor fill tables; name a "
             "mysql "
             "target that does: tables_of: NAME"},
        Case{"OwnerUnknown", "tables_of: sql", "tables_of: sqll",
             "t.yaml:6:5: targets.hs.tables_of: no target 'sqll'; did you mean 'sql'?"},
        Case{"OwnerIsHandlersocket", kSql, std::string(kSql) + "    tables_of: hs\n",
             "t.yaml:4:5: targets.sql.tables_of: 'hs' is handlersocket, which cannot own tables; "
             "name a mysql target\n"
             "t.yaml:7:5: targets.hs.tables_of: 'sql' does not own tables itself; write tables_of: "
             "hs"},
        Case{"OtherDatabaseThanItsOwner", "{ secret: { from: sql } }", "{ database: shop }",
             "t.yaml:4:3: targets.hs: database 'shop' is not that of 'sql', which makes the tables "
             "in 'test'"},
        Case{
            "SharedTables", kSql, std::string(kSql) + "  two: { mysql: { database: test } }\n",
            "t.yaml:4:3: targets.two: writes the same tables as 'sql'; share them: tables_of: sql"},
        Case{"SecretFromUnknown", "{ from: sql }", "{ from: nobody }",
             "t.yaml:5:22: targets.hs.handlersocket.secret: from: no target 'nobody'; there are: "
             "sql, hs"},
        Case{
            "SecretFromHandlersocket", "{ from: sql }", "{ from: hs }",
            "t.yaml:5:22: targets.hs.handlersocket.secret: from: 'hs' is no mysql target, and only "
            "such a one can be asked"},
        Case{"PasswordFromTarget", "{ database: test }",
             "{ database: test, password: { from: sql } }",
             "t.yaml:3:30: targets.sql.mysql.password: from asks a server for a HandlerSocket "
             "secret; here use env or file"},
        Case{"NameOfTarget", kSql, std::string(kSql) + "  a b: { mysql: { database: x } }\n",
             "t.yaml:4:3: targets.a b: 'a b' is not a name: 1 to 64 letters, digits, '_', '.' and "
             "'-'"},
        Case{"NameThatHandlersocketCannotSend", "      qty: { type: int, value: new_version }",
             "      \"q,ty\": { type: int }\n      qty: { type: int }",
             "t.yaml:14:7: tables.customer.columns.q,ty: HandlerSocket cannot send this name: no "
             "comma, no character below 0x10"}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(
    Tables, CheckFault,
    testing::Values(
        Case{"NoKey", "    primary_key: id\n    columns:\n      id: { type: bigint }",
             "    columns:\n      id: { type: bigint }",
             "t.yaml:17:3: tables.orders: primary_key is needed: the name of an integer column"},
        Case{"KeyIsNoColumn", "primary_key: id\n    columns:\n      id: { type: bigint }",
             "primary_key: idd\n    columns:\n      id: { type: bigint }",
             "t.yaml:18:5: tables.orders.primary_key: no column 'idd'; did you mean 'id'?"},
        Case{"KeyIsText", "id: { type: bigint }", "id: { type: varchar(9) }",
             "t.yaml:20:13: tables.orders.columns.id.type: the key must be of an integer type, not "
             "varchar(9)"},
        Case{"KeyIsNullable", "id: { type: bigint }", "id: { type: bigint, nullable: true }",
             "t.yaml:20:27: tables.orders.columns.id.nullable: the key cannot be NULL"},
        Case{"KeyHasARule", "id: { type: bigint }", "id: { type: bigint, value: new_version }",
             "t.yaml:20:27: tables.orders.columns.id.value: the key's value is the key; leave "
             "'value' out"},
        Case{"MoreRowsThanKeys", "rows: 1000", "rows: 3G",
             "t.yaml:9:5: tables.customer.rows: 3000000000 rows are more than keys of type int, "
             "which "
             "end at 2147483647"},
        Case{"NoColumns", "    columns:\n      id: { type: bigint }\n", "",
             "t.yaml:18:5: tables.orders.primary_key: no column 'id'\n"
             "t.yaml:17:3: tables.orders: columns are needed, at least the key: 'columns: { id: { "
             "type: int } }'"},
        Case{"NoType", "{ type: bigint }", "{}",
             "t.yaml:20:7: tables.orders.columns.id: type is needed, such as int or varchar(25)"},
        Case{"UnknownType", "{ type: bigint }", "{ type: blob }",
             "t.yaml:20:13: tables.orders.columns.id.type: unknown column type \"blob\"; known: "
             "tinyint, smallint, int, bigint (each also unsigned), decimal(p,s), char(n), "
             "varchar(n), varbinary(n), text, date, datetime"},
        Case{"SameColumnButForCase", "id: { type: bigint }",
             "id: { type: bigint }\n      ID: { type: int }",
             "t.yaml:21:7: tables.orders.columns.ID: differs from column 'id' only in case"},
        Case{"LongName", "id: { type: bigint }",
             "id: { type: bigint }\n      " + std::string(65, 'x') + ": { type: int }",
             fmt::format(
                 "t.yaml:21:7: tables.orders.columns.{}: the column's name is longer than 64 "
                 "characters",
                 std::string(65, 'x'))},
        Case{"SpaceAtTheEnd", "id: { type: bigint }",
             "id: { type: bigint }\n      \"a \": { type: int }",
             "t.yaml:21:7: tables.orders.columns.a : the column's name must not hold a NUL "
             "character "
             "or end with a space"},
        Case{"Engine", "rows: 1000", "rows: 1000\n    engine: \"x; DROP\"",
             "t.yaml:10:5: tables.customer.engine: 'x; DROP' is not the name of a storage engine"}),
    NameOf);

// A rule for a column "c" of a type, and the error after its place; "ok" for none.
struct RuleCase {
  const char* name;
  std::string type;
  std::string rule;
  std::string error;
};

class Rule : public testing::TestWithParam<RuleCase> {};

TEST_P(Rule, FitsItsColumnOrIsNamed) {
  const RuleCase& test = GetParam();
  const std::string error = CheckError(Changed(
      "      qty: {",
      fmt::format("      c: {{ type: \"{}\", value: {} }}\n      qty: {{", test.type, test.rule)));
  if (test.error == "ok") {
    EXPECT_EQ(error, "ok");
  } else {
    const std::string suffix = fmt::format(": tables.customer.columns.c.value: {}", test.error);
    EXPECT_TRUE(error.starts_with("t.yaml:14:") && error.ends_with(suffix)) << error;
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, Rule,
    testing::Values(
        RuleCase{"PatternFits", "varchar(8)", "\"a{id:06}c\"", "ok"},
        RuleCase{"PatternTooLong", "varchar(7)", "\"a{id:06}c\"",
                 "'a{id:06}c' can become 8 long, and varchar(7) holds 7"},
        RuleCase{"PatternOfTheKeysDigits", "varchar(3)", "\"{id}\"",
                 "'{id}' can become 4 long, and varchar(3) holds 3"},
        RuleCase{"PatternOfAVersion", "varchar(9)", "\"{version}\"",
                 "'{version}' can become 10 long, and varchar(9) holds 9"},
        RuleCase{"PatternCountsCharacters", "varchar(5)", "\"größe\"", "ok"},
        RuleCase{"PatternCountsBytesOfBinary", "varbinary(5)", "\"größe\"",
                 "'größe' can become 7 long, and varbinary(5) holds 5"},
        RuleCase{"UnknownPlaceholder", "varchar(50)", "\"{di}\"",
                 "unknown placeholder '{di}'; known: {id} and {version}; did you mean '{id}'?"},
        RuleCase{"PatternForInteger", "int", "\"{id}\"",
                 "a text or pattern does not fit int; use { constant: ... }, random_int or "
                 "new_version"},
        RuleCase{"PatternForDate", "date", "\"2026-01-{id:02}\"",
                 "a text or pattern does not fit date; use { constant: ... }"},
        RuleCase{"TextFits", "char(10)", "{ random_text: { length: 1..10 } }", "ok"},
        RuleCase{"TextTooLong", "char(10)", "{ random_text: { length: 1..11 } }",
                 "random_text of up to 11 does not fit char(10)"},
        RuleCase{"TextForInteger", "int", "random_text", "random_text does not fit int"},
        RuleCase{"AlphabetNotAscii", "char(10)", "{ random_text: { alphabet: äöü } }",
                 "alphabet: only printable ASCII characters"},
        RuleCase{"NumberFits", "tinyint", "{ random_int: 0..127 }", "ok"},
        RuleCase{"NumberFitsUnsigned", "tinyint unsigned", "{ random_int: 0..255 }", "ok"},
        RuleCase{"NumberTooLarge", "tinyint", "{ random_int: 0..128 }",
                 "random_int up to 128 does not fit tinyint, which ends at 127"},
        RuleCase{"NumberFitsDecimal", "decimal(4,2)", "{ random_int: 0..99 }", "ok"},
        RuleCase{"NumberTooLargeForDecimal", "decimal(4,2)", "{ random_int: 0..100 }",
                 "random_int up to 100 does not fit decimal(4,2)"},
        RuleCase{"NumberForDate", "date", "random_int",
                 "random_int up to 2147483647 does not fit date"},
        RuleCase{"VersionFits", "bigint", "new_version", "ok"},
        RuleCase{"VersionTooNarrow", "smallint", "new_version",
                 "new_version needs an int or bigint column, not smallint"},
        RuleCase{"VersionForText", "varchar(20)", "new_version",
                 "new_version needs an int or bigint column, not varchar(20)"},
        RuleCase{"NullForNotNull", "int", "always_null",
                 "always_null needs 'nullable: true' for column 'c'"},
        RuleCase{"ConstantInteger", "tinyint", "{ constant: -128 }", "ok"},
        RuleCase{"ConstantIntegerTooLow", "tinyint", "{ constant: -129 }",
                 "constant '-129' does not fit tinyint"},
        RuleCase{"ConstantNegativeUnsigned", "int unsigned", "{ constant: -1 }",
                 "constant '-1' does not fit int unsigned"},
        RuleCase{"ConstantLargestUnsigned", "bigint unsigned", "{ constant: 18446744073709551615 }",
                 "ok"},
        RuleCase{"ConstantWordForInteger", "int", "{ constant: five }",
                 "constant 'five' does not fit int"},
        RuleCase{"ConstantDecimal", "decimal(6,2)", "{ constant: -1234.56 }", "ok"},
        RuleCase{"ConstantDecimalTooFine", "decimal(6,2)", "{ constant: 1.234 }",
                 "constant '1.234' does not fit decimal(6,2)"},
        RuleCase{"ConstantDecimalTooLarge", "decimal(6,2)", "{ constant: 12345.6 }",
                 "constant '12345.6' does not fit decimal(6,2)"},
        RuleCase{"ConstantDate", "date", "{ constant: 2026-11-30 }", "ok"},
        RuleCase{"ConstantNoDate", "date", "{ constant: tomorrow }",
                 "constant 'tomorrow' does not fit date"},
        RuleCase{"ConstantDatetime", "datetime", "{ constant: \"2026-11-30 21:27:00\" }", "ok"},
        RuleCase{"ConstantTextTooLong", "char(2)", "{ constant: abc }",
                 "constant 'abc' does not fit char(2)"}),
    [](const testing::TestParamInfo<RuleCase>& test) { return test.param.name; });

const char* const kFind = "read: { table: customer, columns: [id, name] }";

INSTANTIATE_TEST_SUITE_P(
    Operations, CheckFault,
    testing::Values(
        Case{"UnknownTable", kFind, "read: { table: custmer }",
             "t.yaml:22:19: operations.find.read.table: no table 'custmer'; did you mean "
             "'customer'?"},
        Case{"TableNeeded", kFind, "read: {}",
             "t.yaml:22:11: operations.find.read: table is needed, since there are several: "
             "customer, orders"},
        Case{"UnknownColumn", kFind, "read: { table: customer, columns: [nam] }",
             "t.yaml:22:46: operations.find.read.columns[0]: table 'customer' has no column 'nam'; "
             "did you mean 'name'?"},
        Case{"ColumnTwice", kFind, "read: { table: customer, columns: [id, id] }",
             "t.yaml:22:50: operations.find.read.columns[1]: column 'id' is listed twice"},
        Case{"KeysBeyondTheRows", kFind, "read: { table: customer, keys: { uniform: 1..1001 } }",
             "t.yaml:22:36: operations.find.read.keys: keys 1..1001 are not all in 1..1000, the "
             "rows "
             "of table 'customer'"},
        Case{"KeyZero", kFind, "read: { table: customer, keys: { sequential: 0..9 } }",
             "t.yaml:22:36: operations.find.read.keys: keys 0..9 are not all in 1..1000, the rows "
             "of "
             "table 'customer'"},
        Case{
            "RangeBackwards", kFind, "read: { table: customer, keys: { sequential: 9..1 } }",
            "t.yaml:22:44: operations.find.read.keys.sequential.range: 9..1 ends before it begins"},
        Case{"ZipfExponentZero", kFind, "read: { table: customer, keys: { zipf: 0 } }",
             "t.yaml:22:44: operations.find.read.keys.zipf: the exponent must be above 0 and at "
             "most "
             "5"},
        Case{"ZipfExponentTooLarge", kFind, "read: { table: customer, keys: { zipf: 5.1 } }",
             "t.yaml:22:44: operations.find.read.keys.zipf: the exponent must be above 0 and at "
             "most "
             "5"},
        Case{"NoRows", kFind, "read: { table: orders }",
             "t.yaml:22:11: operations.find.read.keys: the table has no rows to work on; give it "
             "'rows'"},
        Case{"NoRowsOfAnExistingTable", "  orders:\n", "  orders:\n    existing: use\n", "ok"},
        Case{"SameAsUnknown", "same_as: find", "same_as: fnd",
             "t.yaml:24:45: operations.pay.update.keys.same_as: no operation 'fnd'; did you mean "
             "'find'?"},
        Case{"SameAsLater", "[find, add, pay]", "[pay, find, add]",
             "t.yaml:24:45: operations.pay.update.keys.same_as: the script has no 'find' before "
             "'pay', whose key it could take"},
        Case{"SameAsItself", "same_as: find", "same_as: pay",
             "t.yaml:24:45: operations.pay.update.keys.same_as: the script has no 'pay' before "
             "'pay', whose key it could take"},
        Case{"NothingToSet", "set: { qty: new_version }", "set: {}",
             "t.yaml:24:10: operations.pay.update: set is needed: the columns to change, as in "
             "'set: "
             "{ qty: new_version }'"},
        Case{"SetOfTheKey", "set: { qty: new_version }", "set: { id: {} }",
             "t.yaml:24:69: operations.pay.update.set.id: the key cannot be changed"},
        Case{
            "SetThatDoesNotFit", "set: { qty: new_version }", "set: { qty: { random_int: 0..3G } }",
            "t.yaml:24:69: operations.pay.update.set.qty: random_int up to 3000000000 does not fit "
            "int, which ends at 2147483647"},
        Case{"SetOfUnknownColumn", "set: { qty: new_version }", "set: { qyt: new_version }",
             "t.yaml:24:69: operations.pay.update.set.qyt: table 'customer' has no column 'qyt'; "
             "did "
             "you mean 'qty'?"},
        Case{"NoKind", "drop: { delete: { table: customer } }", "drop: {}",
             "t.yaml:25:3: operations.drop: does nothing; it needs one of: read, insert, update, "
             "delete"},
        Case{"NameOfOperation", "drop: {", "\"drop it\": {",
             "t.yaml:25:3: operations.drop it: 'drop it' is not a name: 1 to 64 letters, digits, "
             "'_', "
             "'.' and '-'"}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(
    Script, CheckFault,
    testing::Values(
        Case{"UnknownOperation", "[find, add, pay]", "[find, ad]",
             "t.yaml:26:41: script.steps[1].operation: no operation 'ad'; did you mean 'add'?"},
        Case{"RepeatZero", "[find, add, pay]", "[{ find: 0 }]",
             "t.yaml:26:35: script.steps[0]: repeat must be at least 1"},
        Case{"TooManyOperations", "[find, add, pay]", "[{ find: 10001 }]",
             "t.yaml:26:1: script: an iteration has 10001 operations; at most 10000"},
        Case{"NameOfAnOperation", "name: checkout", "name: drop",
             "t.yaml:26:11: script.name: 'drop' is an operation too; give the script another name"},
        Case{
            "Name", "name: checkout", "name: \"a,b\"",
            "t.yaml:26:11: script.name: 'a,b' is not a name: 1 to 64 letters, digits, '_', '.' and "
            "'-'"}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(
    Load, CheckFault,
    testing::Values(
        Case{"NoSessions", "sessions: 4", "sessions: 0",
             "t.yaml:27:9: load.sessions: must be at least 1"},
        Case{"TooManySessions", "sessions: 4", "sessions: 2M",
             "t.yaml:27:9: load.sessions: 2000000 is too large: at most 1000000"},
        Case{"NoPipeline", "sessions: 4", "pipeline: 0",
             "t.yaml:27:9: load.pipeline: must be at least 1"},
        Case{"NoConnects", "sessions: 4", "connect_rate: 0",
             "t.yaml:27:9: load.connect_rate: must be at least 1"},
        Case{"NoTimeout", "sessions: 4", "operation_timeout: 0s",
             "t.yaml:27:9: load.operation_timeout: must be above 0"},
        Case{"LongWarmup", "sessions: 4", "warmup: 9000h",
             "t.yaml:27:9: load.warmup: is longer than a year"},
        Case{"NoWarmupIsFine", "sessions: 4", "warmup: 0s", "ok"},
        Case{"NoDrainIsFine", "sessions: 4", "drain_timeout: 0", "ok"},
        Case{"NoBound", "{ duration: 10s }", "{}",
             "t.yaml:27:22: load.stop_after: needs one of: duration, iterations, passes"},
        Case{"DurationZero", "{ duration: 10s }", "{ duration: 0 }",
             "t.yaml:27:36: load.stop_after.duration: must be above 0"},
        Case{"IterationsZero", "{ duration: 10s }", "{ iterations: 0 }",
             "t.yaml:27:36: load.stop_after.iterations: must be at least 1; leave it out for no "
             "bound"},
        Case{"PassesZero", "{ duration: 10s }", "{ passes: 0 }",
             "t.yaml:27:36: load.stop_after.passes: must be at least 1; leave it out for no bound"},
        Case{
            "PassesOfAnInsert",
            "steps: [find, add, pay] }\nload: { sessions: 4, stop_after: { duration: 10s } }",
            "steps: [add, find, pay] }\nload: { stop_after: { passes: 1 } }",
            "t.yaml:27:23: load.stop_after.passes: a pass is over the keys of the first operation, "
            "and 'add' has none; use iterations"}),
    NameOf);

const char* const kThreshold = "[\"p99(find) < 5ms\"]";

INSTANTIATE_TEST_SUITE_P(
    Run, CheckFault,
    testing::Values(
        Case{"Threshold", kThreshold, "[\"p99(find) < 5\"]",
             "t.yaml:28:14: thresholds[0]: threshold 'p99(find) < 5': duration \"5\" lacks a unit; "
             "write 5s or 5ms"},
        Case{"ThresholdOfNothing", kThreshold, "[\"p99(fnd) < 5ms\"]",
             "t.yaml:28:14: thresholds[0]: 'fnd' is neither an operation nor the script; did you "
             "mean 'find'?"},
        Case{"ThresholdOfTheScript", kThreshold, "[\"p99(checkout, hs) < 5ms\"]", "ok"},
        Case{"ThresholdOfNoTarget", kThreshold, "[\"p99(find, nobody) < 5ms\"]",
             "t.yaml:28:14: thresholds[0]: no target 'nobody'; there are: sql, hs"},
        Case{"LostWithoutAudit", kThreshold, "[\"lost == 0\"]\naudit: false",
             "t.yaml:28:14: thresholds[0]: 'lost' needs the audit, which is off; write 'audit: "
             "true' "
             "and let the script write"},
        Case{"LostWithAudit", kThreshold, "[\"lost == 0\"]", "ok"},
        Case{"ReachedWithoutRate", kThreshold, "[\"reached >= 99%\"]",
             "t.yaml:28:14: thresholds[0]: 'reached' is a share of the rate asked for, and this "
             "spec "
             "asks for none"},
        Case{"CompareOfOne", kThreshold, "[]\ncompare: { targets: [sql] }",
             "t.yaml:29:12: compare.targets: a comparison needs at least two targets"},
        Case{"CompareTwice", kThreshold, "[]\ncompare: { targets: [sql, sql] }",
             "t.yaml:29:27: compare.targets[1]: target 'sql' is listed twice"},
        Case{"CompareUnknown", kThreshold, "[]\ncompare: { targets: [sql, h] }",
             "t.yaml:29:27: compare.targets[1]: no target 'h'; did you mean 'hs'?"},
        Case{"AuditViaUnknown", kThreshold, "[]\naudit: { via: sq }",
             "t.yaml:29:10: audit.via: no target 'sq'; did you mean 'sql'?"},
        Case{"AuditViaHandlersocket", kThreshold, "[]\naudit: { via: hs }",
             "t.yaml:29:10: audit.via: 'hs' is handlersocket; writes are read back over a mysql "
             "target"},
        Case{"AuditViaOtherTables", kSql,
             std::string(kSql) + "  b: { mysql: { database: b } }\naudit: { via: b }\ntargets2:\n",
             "not read: t.yaml:6:1: unknown key 'targets2'; did you mean 'targets'?"},
        Case{"NoRounds", kThreshold, "[]\nrounds: 0", "t.yaml:29:1: rounds: must be at least 1"},
        Case{"TooManySteps", kThreshold, "[]\nrounds: 4000\nsweep: { load.sessions: [1, 2] }",
             "t.yaml:29:1: rounds: 4000 rounds x 2 load points x 2 targets = 16000 steps; at most "
             "10000"},
        Case{"TitleOfTwoLines", kThreshold, "[]\nname: \"a\\nb\"",
             "t.yaml:29:1: name: must not hold line feeds or other control characters"},
        Case{"LongTitle", kThreshold, "[]\nname: " + std::string(201, 'n'),
             "t.yaml:29:1: name: longer than 200 bytes"}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(
    Sweep, CheckFault,
    testing::Values(
        Case{
            "UnknownPath", kThreshold, "[]\nsweep: { load.sesions: [1] }",
            "t.yaml:29:25: sweep of load.sesions to 1: no such key; did you mean 'load.sessions'?"},
        Case{"WrongValue", kThreshold, "[]\nsweep: { load.sessions: [1, x] }",
             "t.yaml:29:29: sweep of load.sessions to x: \"x\" is not a count; write 150000, "
             "150_000 "
             "or 20k"},
        Case{"ValueThatTheCheckRefuses", kThreshold, "[]\nsweep: { load.sessions: [1, 0] }",
             "t.yaml:29:10: load.sessions: must be at least 1"},
        Case{"NoValues", kThreshold, "[]\nsweep: { load.sessions: [] }",
             "t.yaml:29:10: sweep.load.sessions: needs values, as in 'load.sessions: [1, 16]'"},
        Case{"ValueTwice", kThreshold, "[]\nsweep: { load.sessions: [1, 1] }",
             "t.yaml:29:10: sweep.load.sessions: value 1 is listed twice"},
        Case{"OfTheRun", kThreshold, "[]\nsweep: { rounds: [1, 2] }",
             "t.yaml:29:10: sweep.rounds: 'rounds' belongs to the whole run and cannot be swept"},
        Case{"AllTargets", kThreshold, "[]\nsweep: { targets: [{}] }",
             "t.yaml:29:10: sweep.targets: 'targets' belongs to the whole run and cannot be swept"},
        Case{"WhetherATargetIsLoaded", kThreshold, "[]\nsweep: { targets.sql.load: [true, false] }",
             "t.yaml:29:10: sweep.targets.sql.load: 'targets.sql.load' belongs to the whole run and "
             "cannot be swept"},
        Case{"OptionOfATarget", kThreshold,
             "[]\nsweep: { targets.sql.mysql.statements: [text, prepared] }", "ok"},
        Case{"RowsWithoutReset", kThreshold, "[]\nsweep: { tables.orders.rows: [10, 20] }",
             "t.yaml:29:10: sweep.tables.orders.rows: other rows at each load point need 'reset: "
             "step'"},
        Case{"RowsWithReset", kThreshold,
             "[]\nreset: step\nsweep: { tables.orders.rows: [10, 20] }", "ok"},
        Case{"AxesOfOneThing", kThreshold,
             "[]\nsweep: { load: [{ sessions: 1 }], load.sessions: [2] }",
             "t.yaml:29:10: sweep.load: sets 'load.sessions' too, which is an axis of its own"},
        Case{"TooManyPoints", kThreshold,
             "[]\nsweep: { seed: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11], load.sessions: [1, 2, 3, 4, "
             "5, "
             "6, 7, 8, 9, 10], load.pipeline: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] }\nreset: step",
             "t.yaml:29:1: sweep: more than 1000 load points"}),
    NameOf);

TEST(CheckSpec, TakesTheGoodOne) { EXPECT_EQ(CheckError(GoodSpec()), "ok"); }

TEST(CheckSpec, ListsHaveABound) {
  std::string list = "thresholds: [a";
  for (int i = 0; i < 4'096; ++i) list += ", a";
  EXPECT_EQ(CheckError(list + "]\n"), "t.yaml:1:1: thresholds: 4097 entries; at most 4096");
}

TEST(CheckSpec, WantsTargetsAndOperations) {
  EXPECT_EQ(CheckError("{}"),
            "t.yaml:1:1: targets: a spec needs at least one target, such as 'sql: { mysql: { "
            "database: test } }'\n"
            "t.yaml:1:1: operations: a spec needs at least one operation, such as 'find: read'");
}

TEST(CheckSpec, WantsATableForOperations) {
  EXPECT_EQ(CheckError("targets: { s: { mysql: { database: d } } }\noperations: { f: read }\n"),
            "t.yaml:1:1: tables: the operations need a table, such as 'customer: { rows: 1000, "
            "primary_key: id, columns: { id: { type: int } } }'");
}

TEST(CheckSpec, TablesUsedAsTheyAre) {
  const auto check = [](std::string_view keys, std::string_view run) {
    return CheckError(fmt::format(
        "targets: {{ s: {{ mysql: {{ database: d }} }} }}\n"
        "tables: {{ t: {{ existing: use, primary_key: id, columns: {{ id: {{ type: int }} "
        "}} }} }}\noperations: {{ f: {{ read: {{ keys: {} }} }} }}\n{}",
        keys, run));
  };
  EXPECT_EQ(check("{ uniform: 1..500 }", ""), "ok");
  EXPECT_EQ(
      check("uniform", ""),
      "t.yaml:3:28: operations.f.read.keys: give the range of keys, as in 'uniform: 1..1000': "
      "the rows of an existing table are not counted");
  EXPECT_EQ(check("{ uniform: 1..500 }", "reset: step\ncleanup: drop\n"),
            "t.yaml:4:1: reset: every table says 'existing: use' and is never reset; leave reset "
            "out\n"
            "t.yaml:5:1: cleanup: every table says 'existing: use' and is never dropped; leave "
            "cleanup out");
}

TEST(CheckSpec, ATargetThatIsNotLoadedHasNoFigures) {
  const std::string text = Changed(kSql, std::string(kSql) + "    load: false\n");
  EXPECT_EQ(CheckError(text + "audit: { via: sql }\n"), "ok");
  EXPECT_EQ(CheckError(text + "compare: { targets: [hs, sql] }\n"),
            "t.yaml:30:26: compare.targets[1]: target 'sql' says 'load: false', so there are no "
            "figures of it");
  std::string judged = text;
  judged.replace(judged.find("p99(find)"), 9, "p99(find, sql)");
  EXPECT_EQ(CheckError(judged),
            "t.yaml:29:14: thresholds[0]: target 'sql' says 'load: false', so there are no figures "
            "of it");
}

TEST(CheckSpec, ATargetMustBeLoaded) {
  std::string text = Changed(kSql, std::string(kSql) + "    load: false\n");
  text.replace(text.find("tables_of: sql"), 14, "tables_of: sql\n    load: false");
  EXPECT_EQ(CheckError(text),
            "t.yaml:1:1: targets: every one says 'load: false'; at least one must be loaded");
}

TEST(CheckSpec, AuditOverATargetWithOtherTables) {
  EXPECT_EQ(CheckError(GoodSpec() + "audit: { via: b }\n" + "sweep: {}\n"),
            "t.yaml:29:10: audit.via: no target 'b'; there are: sql, hs");
  std::string text = Changed(kSql, std::string(kSql) + "  b: { mysql: { database: b } }\n");
  EXPECT_EQ(CheckError(text + "audit: { via: b }\n"),
            "t.yaml:30:10: audit.via: 'b' does not see the tables of 'sql'; leave via out\n"
            "t.yaml:30:10: audit.via: 'b' does not see the tables of 'hs'; leave via out");
}

TEST(CheckSpec, ReadOfAnInsertedKeyNeedsNoRows) {
  EXPECT_EQ(
      CheckError("targets: { s: { mysql: { database: d } } }\n"
                 "tables: { t: { primary_key: id, columns: { id: { type: int } } } }\n"
                 "operations: { add: { insert: t }, get: { read: { keys: { same_as: add } } } }\n"),
      "ok");
}

TEST(CheckSpec, InsertedKeysMayBeLong) {
  const std::string text =
      "targets: { s: { mysql: { database: d } } }\n"
      "tables: { t: { rows: 10, primary_key: id, columns: { id: { type: int }, n: { type: char(9), "
      "value: \"{id}\" } } } }\n"
      "operations: { add: { insert: t } }\n";
  EXPECT_EQ(
      CheckError(text),
      "t.yaml:2:93: tables.t.columns.n.value: '{id}' can become 10 long, and char(9) holds 9");
}

}  // namespace
}  // namespace cavalry::spec
