#include <gtest/gtest.h>

#include <fmt/format.h>

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

const char* const kWide = "targets:\n";

std::string WithTarget(const std::string& options) { return kWide + ("  c: " + options + "\n"); }

INSTANTIATE_TEST_SUITE_P(
    KeyValueTargets, CheckFault,
    testing::Values(
        Case{"MemcachedTwoPlaces", kWide,
             WithTarget("{ memcached: { host: a, servers: [\"b:1\"] } }"),
             "t.yaml:2:8: targets.c.memcached: say where the server is once: host and port, "
             "servers, "
             "or socket"},
        Case{"MemcachedServerWithoutPort", kWide, WithTarget("{ memcached: { servers: [b] } }"),
             "t.yaml:2:31: targets.c.memcached.servers[0]: 'b' is not HOST:PORT"},
        Case{"MemcachedServerTwice", kWide,
             WithTarget("{ memcached: { servers: [\"b:1\", \"b:1\"] } }"),
             "t.yaml:2:38: targets.c.memcached.servers[1]: 'b:1' is listed twice"},
        Case{"MemcachedUserAlone", kWide, WithTarget("{ memcached: { user: me } }"),
             "t.yaml:2:8: targets.c.memcached: password is needed too"},
        Case{"CassandraWithoutKeyspace", kWide, WithTarget("{ cassandra: { port: 1 } }"),
             "t.yaml:2:8: targets.c.cassandra: keyspace is needed: the one that holds the tables"},
        Case{"CassandraVersion", kWide,
             WithTarget("{ cassandra: { keyspace: k, protocol_version: 3 } }"),
             "t.yaml:2:34: targets.c.cassandra.protocol_version: 3 is neither 4 nor 5"},
        Case{"CassandraSnappyOfFive", kWide,
             WithTarget("{ cassandra: { keyspace: k, protocol_version: 5, compression: snappy } }"),
             "t.yaml:2:55: targets.c.cassandra.compression: snappy goes with protocol_version: 4 "
             "only; use lz4"},
        Case{"CassandraSerialWrites", kWide,
             WithTarget("{ cassandra: { keyspace: k, consistency: { write: serial } } }"),
             "t.yaml:2:49: targets.c.cassandra.consistency.write: is for reads and for `serial` "
             "only"},
        Case{"CassandraReadsOfAny", kWide,
             WithTarget("{ cassandra: { keyspace: k, consistency: { read: any } } }"),
             "t.yaml:2:49: targets.c.cassandra.consistency.read: is for writes only"},
        Case{"CassandraSerialOne", kWide,
             WithTarget("{ cassandra: { keyspace: k, consistency: { serial: one } } }"),
             "t.yaml:2:49: targets.c.cassandra.consistency.serial: is serial or local_serial"},
        Case{"OwnerOfAnotherKind", kWide,
             WithTarget("{ cassandra: { keyspace: k }, tables_of: sql }"),
             "t.yaml:2:36: targets.c.tables_of: 'sql' is mysql, whose tables a cassandra target "
             "cannot see"},
        Case{"SharedItems", kWide,
             WithTarget("{ memcached: { port: 1 } }\n  d: { memcached: { port: 1 } }"),
             "t.yaml:3:3: targets.d: writes the same tables as 'c'; share them: tables_of: c"}),
    NameOf);

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
        Case{
            "TargetWithoutKind", "    mysql: { database: test }\n", "    tables_of: sql\n",
            "t.yaml:2:3: targets.sql: names no kind; write 'mysql: { ... }', 'handlersocket: { ... "
            "}', 'memcached: { ... }' or 'cassandra: { ... }'"},
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
        Case{
            "ThreadsWithoutBlocking", "mysql: { database: test }",
            "mysql: { database: test, threads: 2 }",
            "t.yaml:3:30: targets.sql.mysql.threads: only with client: blocking, whose calls block "
            "a thread"},
        Case{"Tls", "mysql: { database: test }",
             "mysql: { database: test, tls: {}, client: blocking, threads: 2 }", "ok"},
        Case{"TlsCertWithoutKey", "mysql: { database: test }",
             "mysql: { database: test, tls: { cert: a.pem } }",
             "t.yaml:3:30: targets.sql.mysql.tls: key is needed too: a client's certificate goes "
             "with its key"},
        Case{"NameThatHandlersocketCannotSend", "      qty: { type: int, value: new_version }",
             "      \"q,ty\": { type: int }\n      qty: { type: int }",
             "t.yaml:14:7: tables.customer.columns.q,ty: HandlerSocket cannot send this name: no "
             "comma, no character below 0x10"}),
    NameOf);

TEST(CheckLoad, SharedConnectionsGoWithNoPool) {
  for (const auto& [option, path] :
       {std::pair("pool: 4", "pool"), {"connections: per_iteration", "connections"}}) {
    std::string spec = Changed("sessions: 4", option);
    spec.replace(spec.find(kWide), std::string(kWide).size(),
                 WithTarget("{ cassandra: { keyspace: k } }"));
    const std::string error = CheckError(spec);
    EXPECT_NE(error.find(fmt::format("load.{}: the sessions of 'c' share connections", path)),
              std::string::npos)
        << error;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Tables, CheckFault,
    testing::Values(
        Case{"NoKey", "    primary_key: id\n    columns:\n      id: { type: bigint }",
             "    columns:\n      id: { type: bigint }",
             "t.yaml:17:3: tables.orders: primary_key is needed: the name of the key column, or "
             "a list of names"},
        Case{"KeyIsNoColumn", "primary_key: id\n    columns:\n      id: { type: bigint }",
             "primary_key: idd\n    columns:\n      id: { type: bigint }",
             "t.yaml:18:5: tables.orders.primary_key: no column 'idd'; did you mean 'id'?"},
        Case{"KeyIsText", "id: { type: bigint }", "id: { type: varchar(9) }",
             "t.yaml:20:7: tables.orders.columns.id: the key must differ from row to row; give "
             "'id' a value that holds the row's number, as in value: \"{key}\""},
        Case{"KeyOfText", "id: { type: bigint }", "id: { type: varchar(20), value: \"o{key}\" }",
             "ok"},
        Case{
            "KeyOfTwoColumns", "primary_key: id\n    columns:\n      id: { type: bigint }",
            "primary_key: [kind, id]\n    columns:\n      kind: { type: char(9), value: { "
            "constant: a } }\n      id: { type: varchar(20), value: \"o{id}\" }",
            "t.yaml:20:7: tables.orders.columns.kind: the key must differ from row to row; give "
            "'kind' a value that holds the row's number, as in value: \"{key}\"\n"
            "t.yaml:21:32: tables.orders.columns.id.value: unknown placeholder '{id}'; known: key, "
            "version, digits"},
        Case{"KeyColumnTwice", "primary_key: id\n    columns:\n      id: { type: bigint }",
             "primary_key: [id, id]\n    columns:\n      id: { type: bigint }",
             "t.yaml:18:23: tables.orders.primary_key[1]: column 'id' is listed twice"},
        Case{"KeyIsNullable", "id: { type: bigint }", "id: { type: bigint, nullable: true }",
             "t.yaml:20:27: tables.orders.columns.id.nullable: the key cannot be NULL"},
        Case{"KeyHasARule", "id: { type: bigint }", "id: { type: bigint, value: new_version }",
             "t.yaml:20:7: tables.orders.columns.id: the key must differ from row to row; give "
             "'id' a value that holds the row's number, as in value: \"{key}\""},
        Case{"KeyOfTheServer", "id: { type: bigint }",
             "id: { type: bigint, value: { server: \"uuid_short()\" } }",
             "t.yaml:20:7: tables.orders.columns.id: the key must differ from row to row; give "
             "'id' a value that holds the row's number, as in value: \"{key}\"\n"
             "t.yaml:20:27: tables.orders.columns.id.value: a key must be known to be asked for; "
             "the server's value is not"},
        Case{"AutoIncrement", "id: { type: bigint }", "id: { type: bigint, auto_increment: true }",
             "ok"},
        Case{
            "AutoIncrementOfAnother", "id: { type: bigint }",
            "id: { type: bigint }\n      n: { type: int, auto_increment: true }",
            "t.yaml:21:23: tables.orders.columns.n.auto_increment: only for a single key column of "
            "an integer type without a value of its own"},
        Case{"DefaultOfTwoStatements", "id: { type: bigint }",
             "id: { type: bigint }\n      n: { type: int, default: \"0); DROP TABLE x\" }",
             "t.yaml:21:23: tables.orders.columns.n.default: must be one line of SQL without ';'"},
        Case{"Charset", "rows: 1000", "rows: 1000\n    charset: \"utf8 x\"",
             "t.yaml:10:5: tables.customer.charset: 'utf8 x' is not the name of a character set"},
        Case{"RowsFromWithoutRows", "  orders:\n", "  orders:\n    rows_from: /tmp/x\n",
             "t.yaml:18:5: tables.orders.rows_from: needs 'rows': how many lines of the file are "
             "rows"},
        Case{"IndexOfNoColumn", "rows: 1000", "rows: 1000\n    indexes: { by: [nme] }",
             "t.yaml:10:16: tables.customer.indexes.by: no column 'nme'; did you mean 'name'?"},
        Case{
            "IndexTwice", "rows: 1000", "rows: 1000\n    indexes: { by: name, By: [qty] }",
            "t.yaml:10:26: tables.customer.indexes.By: the name is taken, whatever the case of its "
            "letters"},
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
        Case{"UnknownType", "{ type: bigint }", "{ type: blub }",
             "t.yaml:20:13: tables.orders.columns.id.type: unknown column type \"blub\"; known: "
             "tinyint, smallint, mediumint, int, bigint (each also unsigned), boolean, float, "
             "double, decimal(p,s), char(n), varchar(n), text, mediumtext, longtext, binary(n), "
             "varbinary(n), blob, mediumblob, longblob, date, time, datetime, timestamp, year, "
             "json"},
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
                 "unknown placeholder '{di}'; did you mean '{id}'?"},
        RuleCase{"KeyForInteger", "int", "\"{id}\"", "ok"},
        RuleCase{"PatternForInteger", "int", "\"1{id}\"",
                 "a text or pattern does not fit int; use { constant: ... }, random_int, "
                 "new_version or \"{key}\""},
        RuleCase{"PatternOfANumber", "varchar(12)", "\"{id+10}-{digits:4}\"",
                 "'{id+10}-{digits:4}' can become 15 long, and varchar(12) holds 12"},
        RuleCase{"PatternOfAVersionColumn", "varchar(50)", "\"{qty+1}\"",
                 "unknown placeholder '{qty+1}'; known: key, id, version, digits"},
        RuleCase{"Hash", "char(16)", "hashed", "ok"},
        RuleCase{"HashOfInteger", "smallint", "hashed", "ok"},
        RuleCase{"HashTooLong", "char(15)", "hashed",
                 "hashed is 16 digits long, and char(15) holds 15"},
        RuleCase{"HashOfDate", "date", "hashed", "hashed does not fit date"},
        RuleCase{"OneOf", "char(5)", "{ one_of: [red, green] }", "ok"},
        RuleCase{"OneOfNone", "char(5)", "{ one_of: [] }",
                 "one_of needs texts, as in 'one_of: [red, green]'"},
        RuleCase{"OneOfTooLong", "char(3)", "{ one_of: [red, green] }",
                 "'green' of one_of does not fit char(3)"},
        RuleCase{"Server", "timestamp", "{ server: \"now()\" }", "ok"},
        RuleCase{"ServerOfNothing", "datetime", "{ server: \"\" }",
                 "server needs SQL, as in 'server: \"now()\"'"},
        RuleCase{"ConstantTime", "time", "{ constant: \"21:27:00\" }", "ok"},
        RuleCase{"ConstantNoTime", "time", "{ constant: \"21:27\" }",
                 "constant '21:27' does not fit time"},
        RuleCase{"ConstantFloat", "float", "{ constant: -1.5e3 }", "ok"},
        RuleCase{"ConstantNoDouble", "double", "{ constant: one }",
                 "constant 'one' does not fit double"},
        RuleCase{"NumberOfYear", "year", "{ random_int: 1999..2026 }", "ok"},
        RuleCase{"NumberOfNoYear", "year", "{ random_int: 1..2026 }",
                 "random_int for a year must be within 1901..2155"},
        RuleCase{"TextForJson", "json", "random_text", "random_text does not fit json"},
        RuleCase{"PatternForJson", "json", "{ pattern: \"{{\\\"n\\\": {key}}}\" }", "ok"},
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
             "delete, multi_read, scan, increment, native, begin, commit, rollback, sleep, "
             "reset_connection, change_user"},
        Case{"ReservedName", "drop: {", "commit: {",
             "t.yaml:25:3: operations.commit: 'commit' means the operation that needs no listing, "
             "commit; give this one another name"},
        Case{
            "MultiReadOfMoreThanThereAre", kFind,
            "multi_read: { table: customer, keys: { uniform: 1..5 }, count: 6 }",
            "t.yaml:22:67: operations.find.multi_read.count: 6 different keys cannot be drawn from "
            "5\n"
            "t.yaml:24:45: operations.pay.update.keys.same_as: 'find' has not one key that could "
            "be taken"},
        Case{"ScanOfNoIndex", kFind, "scan: { table: customer, index: by_nme }",
             "t.yaml:22:36: operations.find.scan.index: table 'customer' has no index 'by_nme'"},
        Case{"ScanByNe", kFind, "scan: { table: customer, comparison: ne }",
             "t.yaml:22:36: operations.find.scan.comparison: no index is read by ne; use a filter"},
        Case{"ScanOfTooManyParts", kFind, "scan: { table: customer, parts: 2 }",
             "t.yaml:22:36: operations.find.scan.parts: the index has 1 column"},
        Case{"FilterOfNull", kFind,
             "scan: { table: customer, filters: { closed: { comparison: lt } } }",
             "t.yaml:22:47: operations.find.scan.filters.closed: NULL is compared by eq and ne "
             "only; give a value"},
        Case{"FilterOfNeverNull", kFind, "scan: { table: customer, filters: { qty: {} } }",
             "t.yaml:22:47: operations.find.scan.filters.qty: 'qty' is never NULL; give a value"},
        Case{"InsertWithoutKey", "{ insert: orders }",
             "{ insert: { table: customer, columns: [name] } }",
             "t.yaml:23:37: operations.add.insert.columns: the key column 'id' is needed"},
        Case{"InsertOfNothing", "{ insert: orders }", "{ insert: { table: orders, batch: 0 } }",
             "t.yaml:23:35: operations.add.insert.batch: must be at least 1"},
        Case{"IncrementOfText", kFind, "increment: { table: customer, column: name }",
             "t.yaml:22:41: operations.find.increment.column: 'name' is varchar(25), no number"},
        Case{"IncrementBy", kFind, "increment: { table: customer, column: qty, by: 0 }",
             "t.yaml:22:54: operations.find.increment.by: adding 0 changes nothing"},
        Case{"NativeOfNothing", kFind, "native: \"\"",
             "t.yaml:22:11: operations.find.native: statement is needed"},
        Case{"ParameterOfBoth", kFind,
             "native: { statement: \"SELECT ?\", parameters: [{ keys: uniform, table: customer, "
             "value: a }] }",
             "t.yaml:22:57: operations.find.native.parameters[0]: needs either keys or a value"},
        Case{
            "ParameterOfTheServer", kFind,
            "native: { statement: \"SELECT ?\", parameters: [{ value: { server: \"now()\" } }] }",
            "t.yaml:22:59: operations.find.native.parameters[0].value: write the server's SQL into "
            "the statement itself"},
        Case{"SleepOfNothing", kFind, "sleep: 0s",
             "t.yaml:24:45: operations.pay.update.keys.same_as: 'find' has not one key that could "
             "be taken\n"
             "t.yaml:22:11: operations.find.sleep: duration must be above 0, as in 'sleep: 500ms'\n"
             "t.yaml:28:14: thresholds[0]: 'find' is neither an operation nor the script; there "
             "are: checkout, add, pay, drop"},
        Case{"HotspotOfMost", kFind,
             "read: { table: customer, keys: { hotspot: { keys_percent: 90 } } }",
             "t.yaml:22:44: operations.find.read.keys.hotspot: 80 % of the operations on 90 % of "
             "the keys: no few keys get more than the others; raise operations_percent"},
        Case{"HotspotOfAll", kFind,
             "read: { table: customer, keys: { hotspot: { keys_percent: 100 } } }",
             "t.yaml:22:55: operations.find.read.keys.hotspot.keys_percent: must be above 0 and "
             "below 100"},
        Case{"LatestExponent", kFind, "read: { table: customer, keys: { latest: 9 } }",
             "t.yaml:22:44: operations.find.read.keys.latest: the exponent must be above 0 and at "
             "most 5"},
        Case{"KeysFromNoFile", kFind, "read: { table: customer, keys: { from_file: \"\" } }",
             "t.yaml:22:44: operations.find.read.keys.from_file: needs the path of a file on the "
             "agents' hosts"},
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
        Case{"Transaction", "steps: [find, add, pay]", "transaction: [find, add, pay]", "ok"},
        Case{"ImplicitOperations", "[find, add, pay]",
             "[reset_connection, begin, find, pay, rollback, change_user]", "ok"},
        Case{"NearImplicitOperation", "[find, add, pay]", "[find, comit]",
             "t.yaml:26:41: script.steps[1].operation: no operation 'comit'; did you mean "
             "'commit'?"},
        Case{"BeginWithoutEnd", "[find, add, pay]", "[begin, find]",
             "t.yaml:26:1: script: begins a transaction and does not end it; add commit, or write "
             "'transaction: [...]' instead"},
        Case{"BeginTwice", "[find, add, pay]", "[begin, begin, commit]",
             "t.yaml:26:42: script.steps[1]: a transaction has begun already"},
        Case{"CommitAlone", "[find, add, pay]", "[find, commit]",
             "t.yaml:26:41: script.steps[1]: no transaction has begun"},
        Case{"CommitInTransaction", "steps: [find, add, pay]", "transaction: [find, commit]",
             "t.yaml:26:47: script.transaction[1]: 'transaction' begins and commits by itself; "
             "leave "
             "'commit' out"},
        Case{
            "StepsAndMix", "steps: [find, add, pay]", "steps: [find], mix: { add: 1 }",
            "t.yaml:26:1: script: 'steps', 'transaction' and 'mix' exclude each other; keep one of "
            "them"},
        Case{"Mix", "steps: [find, add, pay]",
             "mix: { find: 94.5, buy: { weight: 5, transaction: [find, pay] }, add: 0.5 }", "ok"},
        Case{
            "MixOfNoOperation", "steps: [find, add, pay]", "mix: { find: 95, pai: 5 }",
            "t.yaml:26:44: script.mix.pai: is no operation; did you mean 'pay'? Else a name of its "
            "own needs steps, as in '{ weight: 5, steps: [...] }'"},
        Case{
            "MixOfNothingNear", "steps: [find, add, pay]", "mix: { find: 95, checkout: 5 }",
            "t.yaml:26:44: script.mix.checkout: is no operation; a name of its own needs steps, as "
            "in '{ weight: 5, steps: [...] }'"},
        Case{"MixWithoutSource", "steps: [find, add, pay]", "mix: { find: 95, pay: 5 }",
             "t.yaml:24:45: operations.pay.update.keys.same_as: the script has no 'find' before "
             "'pay', whose key it could take"},
        Case{"MixOfWeightZero", "steps: [find, add, pay]", "mix: { find: 95, add: 0 }",
             "t.yaml:26:44: script.mix.add: weight must be above 0"},
        Case{"MixOfLess", "steps: [find, add, pay]", "mix: { find: 100000, add: 1 }",
             "t.yaml:26:48: script.mix.add: less than one iteration in 10000; raise its weight"},
        Case{"ManyRows", "[find, add, pay]", "[{ add: 6000 }, { add: 6000 }]",
             "t.yaml:26:1: script: an iteration has 12000 operations; at most 10000\n"
             "t.yaml:26:1: script: an iteration inserts 12000 rows; at most 10000"},
        Case{"StagesAndScript", "load: { sessions",
             "stages: { a: { script: [find] } }\nload: { sessions",
             "t.yaml:26:1: script: each of 'stages' has a script of its own; leave this one out"},
        Case{
            "Stages", "script: { name: checkout, steps: [find, add, pay] }",
            "stages: { a: { script: [add], load: { stop_after: { iterations: 5 } } }, b: { script: "
            "{ transaction: [find] } } }",
            "ok"},
        Case{"KeysOfAnEarlierStage", "operations:",
             "stages:\n"
             "  a: { script: [{ fill: 2 }], load: { stop_after: { iterations: 500 } } }\n"
             "  b: { script: [get] }\n"
             "operations:\n"
             "  fill: { insert: { table: orders, batch: 3 } }\n"
             "  get: { read: { table: orders, keys: { uniform: 1..3001 } } }",
             "t.yaml:26:33: operations.get.read.keys: keys 1..3001 are not all in 1..3000, the "
             "rows of "
             "table 'orders'\n"
             "t.yaml:31:1: script: each of 'stages' has a script of its own; leave this one out"},
        Case{"StageWithoutScript", "script: { name: checkout, steps: [find, add, pay] }",
             "stages: { a: { load: { sessions: 0 } } }",
             "t.yaml:26:11: stages.a: script is needed\n"
             "t.yaml:26:24: stages.a.load.sessions: must be at least 1"},
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
        Case{"PassesOfAnInsert",
             "steps: [find, add, pay] }\nload: { sessions: 4, stop_after: { duration: 10s } }",
             "steps: [add, find, pay] }\nload: { stop_after: { passes: 1 } }",
             "t.yaml:27:23: load.stop_after.passes: a pass is over the keys of the script's first "
             "operation, and that draws none of a known number; use iterations"},
        Case{"PassesInATransaction",
             "steps: [find, add, pay] }\nload: { sessions: 4, stop_after: { duration: 10s } }",
             "transaction: [find, pay] }\nload: { stop_after: { passes: 1 } }", "ok"},
        Case{"PassesOfAMix",
             "steps: [find, add, pay] }\nload: { sessions: 4, stop_after: { duration: 10s } }",
             "mix: { find: 1, add: 1 } }\nload: { stop_after: { passes: 1 } }",
             "t.yaml:27:23: load.stop_after.passes: a pass is over the keys of the script's first "
             "operation, and a mix has no first one; use iterations"},
        Case{"PipelineWithBegin", "steps: [find, add, pay] }\nload: { sessions: 4",
             "transaction: [find] }\nload: { pipeline: 4",
             "t.yaml:27:9: load.pipeline: several operations in flight do not go with 'begin' in "
             "the script"},
        Case{"PipelineWithThinkTime", "sessions: 4", "pipeline: 4, think_time: 1s",
             "t.yaml:27:9: load.pipeline: several operations in flight do not go with think_time"},
        Case{"PipelineWithPool", "sessions: 4", "pipeline: 4, pool: 3",
             "t.yaml:27:9: load.pipeline: several operations in flight do not go with a pool"},
        Case{"PoolOfNone", "sessions: 4", "pool: { overflow: 3 }",
             "t.yaml:27:9: load.pool.size: must be at least 1"},
        Case{"PoolOfNothingKept", "sessions: 4", "pool: 4, connections: per_iteration",
             "t.yaml:27:9: load.pool: a pool keeps connections, 'connections: per_iteration' does "
             "not; keep one of them"},
        Case{"TooManyRetries", "sessions: 4", "retries: 1001",
             "t.yaml:27:9: load.retries: 1001 is too large: at most 1000"},
        Case{"LongThinkTime", "sessions: 4", "think_time: 9000h",
             "t.yaml:27:9: load.think_time: is longer than a year"}),
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
             "t.yaml:29:10: audit.via: 'hs' is handlersocket; writes are read back over a target "
             "that "
             "owns tables"},
        Case{"AuditViaOtherTables", kSql,
             std::string(kSql) + "  b: { mysql: { database: b } }\naudit: { via: b }\ntargets2:\n",
             "not read: t.yaml:6:1: unknown key 'targets2'; did you mean 'targets'?"},
        Case{"NoRounds", kThreshold, "[]\nrounds: 0", "t.yaml:29:1: rounds: must be at least 1"},
        Case{"TooManySteps", kThreshold, "[]\nrounds: 4000\nsweep: { load.sessions: [1, 2] }",
             "t.yaml:29:1: rounds: 4000 rounds x 2 load points x 2 targets = 16000 steps; at most "
             "10000"},
        Case{
            "Conditions", kThreshold,
            "[]\nconditions: { cold: { before: [restart], warmup: 0s, stop_after: { passes: 1 } }, "
            "warm: { before: [{ native: { sql: \"SELECT 1\" } }] } }\n"
            "commands: { restart: { run: [ssh, db1, reboot], ready_within: 90s } }",
            "ok"},
        Case{"ConditionOfNoCommand", kThreshold,
             "[]\nconditions: { cold: { before: [restrt] } }\ncommands: { restart: [reboot] }",
             "t.yaml:29:32: conditions.cold.before[0].command: no command 'restrt'; did you mean "
             "'restart'?"},
        Case{
            "NativeOnHandlersocket", kThreshold,
            "[]\nconditions: { warm: { before: [{ native: { hs: \"SELECT 1\" } }] } }",
            "t.yaml:29:44: conditions.warm.before[0].native.hs: 'hs' takes no statements; name its "
            "tables' owner"},
        Case{"CommandOfNothing", kThreshold, "[]\ncommands: { restart: {} }",
             "t.yaml:29:13: commands.restart: run is needed: the program and its arguments, as in "
             "'run: [systemctl, restart, mariadb]'"},
        Case{
            "ConditionWithoutBound", kThreshold, "[]\nconditions: { cold: { stop_after: {} } }",
            "t.yaml:29:23: conditions.cold.stop_after: needs one of: duration, iterations, passes"},
        Case{"StepsOfConditions", kThreshold, "[]\nrounds: 3000\nconditions: { a: {}, b: {} }",
             "t.yaml:29:1: rounds: 3000 rounds x 2 load points x 2 targets = 12000 steps; at most "
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
        Case{
            "WhetherATargetIsLoaded", kThreshold, "[]\nsweep: { targets.sql.load: [true, false] }",
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
