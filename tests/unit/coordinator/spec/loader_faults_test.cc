#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "coordinator/spec/spec_loader.h"
#include "spec_texts.h"

namespace cavalry::spec {
namespace {

struct Case {
  const char* name;
  std::string text;
  std::string error;
};

class LoaderFault : public testing::TestWithParam<Case> {};

TEST_P(LoaderFault, NamesPlaceAndRemedy) {
  unsetenv("CAVALRY_TEST_UNSET");
  EXPECT_EQ(ParseError(GetParam().text), GetParam().error);
}

std::string NameOf(const testing::TestParamInfo<Case>& test) { return test.param.name; }

const char* const kLoadKeys =
    "sessions, warmup, stop_after, operation_timeout, connect_timeout, drain_timeout, pipeline, "
    "connect_rate, retries, connections, pool, think_time";

INSTANTIATE_TEST_SUITE_P(
    Keys, LoaderFault,
    testing::Values(
        Case{"UnknownKey", "load:\n  sesions: 4\n",
             "t.yaml:2:3: load: unknown key 'sesions'; did you mean 'sessions'?"},
        Case{"UnknownKeyWithNothingNear", "load:\n  frequency: 4\n",
             fmt::format("t.yaml:2:3: load: unknown key 'frequency'; keys here: {}", kLoadKeys)},
        Case{"UnknownTopLevelKey", "name: x\ntable: {}\n",
             "t.yaml:2:1: unknown key 'table'; did you mean 'tables'?"},
        Case{"UnknownKeyInKeyedList", "tables:\n  customer: { row: 3 }\n",
             "t.yaml:2:15: tables.customer: unknown key 'row'; did you mean 'rows'?"},
        Case{"NameIsTheKey", "tables:\n  customer: { name: x }\n",
             "t.yaml:2:15: tables.customer: unknown key 'name'; keys here: rows, primary_key, "
             "columns, existing, engine, indexes, charset, collation, row_format, partition_by, "
             "rows_from"},
        Case{"DuplicateKey", "load: { sessions: 1 }\nseed: 1\nload: { sessions: 2 }\n",
             "t.yaml:3:1: duplicate key 'load'; it stands at 1:1 too"},
        Case{"DuplicateName", "tables:\n  a: {}\n  b: {}\n  a: {}\n",
             "t.yaml:4:3: duplicate key 'a'; it stands at 2:3 too"},
        Case{"DuplicateKeyInFlow", "load: { pipeline: 1, pipeline: 1 }\n",
             "t.yaml:1:22: duplicate key 'pipeline'; it stands at 1:9 too"},
        Case{"OneofTwice", "targets:\n  sql:\n    mysql: { database: a }\n    handlersocket: {}\n",
             "t.yaml:4:5: targets.sql: 'mysql' and 'handlersocket' exclude each other; keep one of "
             "them"},
        Case{"OneofTwiceInKeys", "operations: { f: { read: { keys: { uniform: {}, zipf: {} } } } }",
             "t.yaml:1:49: operations.f.read.keys: 'uniform' and 'zipf' exclude each other; keep "
             "one of them"},
        Case{"MergeKey", "load:\n  <<: { sessions: 1 }\n",
             "t.yaml:2:3: merge keys (<<) are not supported; write the keys out"},
        Case{"KeyThatIsAList", "? [a, b]\n: 1\n", "t.yaml:1:3: a key must be a text"}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(
    Values, LoaderFault,
    testing::Values(
        Case{"MissingUnit", "load:\n  warmup: 60\n",
             "t.yaml:2:11: load.warmup: duration \"60\" lacks a unit; write 60s or 60ms"},
        Case{"UnknownUnit", "load: { warmup: 6 fortnights }\n",
             "t.yaml:1:17: load.warmup: duration \"6 fortnights\" has an unknown unit \" "
             "fortnights\"; known: ns, us, ms, s, m, h"},
        Case{"NegativeDuration", "load: { warmup: -5s }\n",
             "t.yaml:1:17: load.warmup: '-5s' is negative: it must be 0 or more"},
        Case{"DurationBeyond64Bits", "load: { warmup: 9999999h }\n",
             "t.yaml:1:17: load.warmup: duration \"9999999h\" is too long or finer than 1ns"},
        Case{"WordForCount", "load:\n  sessions: many\n",
             "t.yaml:2:13: load.sessions: \"many\" is not a count; write 150000, 150_000 or 20k"},
        Case{"FractionForCount", "load: { sessions: 1.5 }\n",
             "t.yaml:1:19: load.sessions: \"1.5\" is not a whole number or too large"},
        Case{"Above32Bits", "load: { sessions: 5G }\n",
             "t.yaml:1:19: load.sessions: '5G' is too large: at most 4294967295"},
        Case{"PlainNumberAbove32Bits", "rounds: 4294967296\n",
             "t.yaml:1:9: rounds: '4294967296' is too large: at most 4294967295"},
        Case{"Above64Bits", "seed: 18446744073709551616\n",
             "t.yaml:1:7: seed: '18446744073709551616' is too large: at most 18446744073709551615"},
        Case{"NegativeNumber", "rounds: -1\n",
             "t.yaml:1:9: rounds: '-1' is negative: it must be 0 or more"},
        Case{"WordForNumber", "rounds: two\n", "t.yaml:1:9: rounds: 'two' is not a whole number"},
        Case{"HexNumber", "rounds: 0x10\n", "t.yaml:1:9: rounds: '0x10' is not a whole number"},
        Case{"WordForFlag", "audit: { enabled: yes }\n",
             "t.yaml:1:19: audit.enabled: 'yes' is not true or false"},
        Case{"ShortFormOfFlag", "audit: maybe\n",
             "t.yaml:1:8: audit.enabled: 'maybe' is not true or false"},
        Case{"WordForFraction", "operations: { f: { read: { keys: { zipf: much } } } }\n",
             "t.yaml:1:42: operations.f.read.keys.zipf.theta: \"much\" is not a number"},
        Case{"InfiniteFraction", "operations: { f: { read: { keys: { zipf: inf } } } }\n",
             "t.yaml:1:42: operations.f.read.keys.zipf.theta: \"inf\" is not a number"},
        Case{"EnumWord", "targets: { s: { mysql: { transport: tpc } } }\n",
             "t.yaml:1:37: targets.s.mysql.transport: 'tpc' is not one of tcp, unix; did you mean "
             "'tcp'?"},
        Case{"EnumWordWithNothingNear", "order: backwards\n",
             "t.yaml:1:8: order: 'backwards' is not one of mirrored, same, blocked, shuffled"},
        Case{"EnumUnspecified", "order: unspecified\n",
             "t.yaml:1:8: order: 'unspecified' is not one of mirrored, same, blocked, shuffled"},
        Case{"EnumWithPrefix", "order: ORDER_SAME\n",
             "t.yaml:1:8: order: 'ORDER_SAME' is not one of mirrored, same, blocked, shuffled"},
        Case{"Range", "operations: { f: { read: { keys: { sequential: 1-9 } } } }\n",
             "t.yaml:1:48: operations.f.read.keys.sequential.range: '1-9' is not a range such as "
             "1..1000, nor one number: \"1-9\" has an unknown unit \"-9\"; known: k, M, G (powers "
             "of 1000)"},
        Case{"HalfARange", "operations: { f: { read: { keys: { uniform: 1.. } } } }\n",
             "t.yaml:1:45: operations.f.read.keys.uniform.range: '1..' is not a range such as "
             "1..1000, nor one number: \"\" is not a count; write 150000, 150_000 or 20k"},
        Case{"NegativeRange", "operations: { f: { read: { keys: { uniform: -5..5 } } } }\n",
             "t.yaml:1:45: operations.f.read.keys.uniform.range: '-5..5' is not a range such as "
             "1..1000, nor one number: '-5' is negative: it must be 0 or more"}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(
    Kinds, LoaderFault,
    testing::Values(
        Case{"ListForNumber", "load: { sessions: [1, 2] }\n",
             "t.yaml:1:19: load.sessions: must be a whole number, not a list"},
        Case{"MappingForText", "name: { a: b }\n",
             "t.yaml:1:7: name: must be a text, not a mapping"},
        Case{"ScalarForMapping", "load: 4\n",
             fmt::format("t.yaml:1:7: load: must be a mapping with keys of: {}, not '4'",
                         kLoadKeys)},
        Case{"ListForMapping", "load: [4]\n",
             fmt::format("t.yaml:1:7: load: must be a mapping with keys of: {}, not a list",
                         kLoadKeys)},
        Case{"ListForNames", "tables: [a, b]\n",
             "t.yaml:1:9: tables: must be a mapping of names to their values, 'name: ...'"},
        Case{"ScalarForNames", "sweep: fast\n",
             "t.yaml:1:8: sweep: must be a mapping of paths to their values, 'path: ...'"},
        Case{"OneofWord", "operations: { f: { read: { keys: unifrom } } }\n",
             "t.yaml:1:34: operations.f.read.keys: 'unifrom' is not one of sequential, uniform, "
             "zipf, same_as, latest, hotspot, exponential, from_file; did you mean 'uniform'?"},
        Case{
            "OneofWordThatNeedsAValue", "operations: { f: { read: { keys: same_as } } }\n",
            "t.yaml:1:34: operations.f.read.keys: 'same_as' needs a value: { same_as: ... }; quote "
            "it if it is the text itself"},
        Case{"KeyForEmptyMessage",
             "tables: { t: { columns: { c: { value: { new_version: { by: 2 } } } } } }\n",
             "t.yaml:1:56: tables.t.columns.c.value.new_version: unknown key 'by'"},
        Case{"EmptyMessage", "name: x\nload:\nrounds: 2\n",
             fmt::format("t.yaml:2:1: load: has no value; must be a mapping with keys of: {}",
                         kLoadKeys)},
        Case{"EmptyNumber", "load:\n  sessions:\n  pipeline: 1\n",
             "t.yaml:2:3: load.sessions: has no value; it must be a whole number"},
        Case{"EmptyDuration", "load: { warmup: , pipeline: 1 }\n",
             "t.yaml:1:9: load.warmup: has no value; it must be a duration such as 60s"},
        Case{"EmptyText", "name:\n", "t.yaml:1:1: name: has no value; it must be a text"},
        Case{"NullWord", "rounds: null\n",
             "t.yaml:1:1: rounds: has no value; it must be a whole number"},
        Case{"EmptyElement", "thresholds:\n  - \n  - a\n",
             "t.yaml:2:3: thresholds[0]: has no value; it must be a text"},
        Case{"UnsetVariable", "load:\n  sessions: { env: CAVALRY_TEST_UNSET }\n",
             "t.yaml:2:20: load.sessions: environment variable CAVALRY_TEST_UNSET is not set"},
        Case{"VariableWithoutName", "name: { env: }\n",
             "t.yaml:1:9: name: env needs the name of an environment variable"}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(
    Files, LoaderFault,
    testing::Values(
        Case{"Empty", "", "t.yaml:1:1: the spec is empty; it needs targets and operations"},
        Case{"OnlyComments", "# nothing\n\n",
             "t.yaml:1:1: the spec is empty; it needs targets and operations"},
        Case{"OnlyADocumentMark", "---\n",
             "t.yaml:1:1: the spec is empty; it needs targets and operations"},
        Case{
            "NotAMapping", "\n- a\n- b\n",
            "t.yaml:2:1: a spec is a mapping of keys such as targets, tables, operations and load"},
        Case{
            "OneWord", "hello\n",
            "t.yaml:1:1: a spec is a mapping of keys such as targets, tables, operations and load"},
        Case{"Tab", "load:\n\tsessions: 1\n",
             "t.yaml:2:1: a tab in the indentation; YAML indents with spaces"},
        Case{"TabAfterSpaces", "load:\n  a: 1\n  \tb: 1\n",
             "t.yaml:3:3: a tab in the indentation; YAML indents with spaces"},
        Case{"SecondDocument", "name: a\n---\nname: b\n",
             "t.yaml:2:1: a second document; a spec is one"},
        Case{"Anchor", "name: &a x\n",
             "t.yaml:1:7: anchors (&name) are not supported; write the value out"},
        Case{"Alias", "name: &a x\nthresholds: [*a]\n",
             "t.yaml:1:7: anchors (&name) are not supported; write the value out\n"
             "t.yaml:2:14: aliases (*name) are not supported; write the value out\n"
             "t.yaml:2:13: thresholds[0]: has no value; it must be a text"},
        Case{"Tag", "name: !!int 5\n",
             "t.yaml:1:7: tags ('tag:yaml.org,2002:int') are not supported"},
        Case{"NotUtf8", "name: caf\xe9\n", "t.yaml:1:10: the file is not UTF-8"},
        Case{"Overlong", "name: \xc0\xaf\n", "t.yaml:1:7: the file is not UTF-8"},
        Case{"Surrogate", "name: \xed\xa0\x80\n", "t.yaml:1:7: the file is not UTF-8"},
        Case{"CutSequence", "name: \xe2\x82", "t.yaml:1:7: the file is not UTF-8"},
        Case{"Utf16", std::string("\xff\xfen\0a\0", 6), "t.yaml:1:1: the file is not UTF-8"},
        Case{"NulCharacter", std::string("name: a\0b\n", 10),
             "t.yaml:1:8: control character 0x00; write it as \"\\x00\""},
        Case{"BareCarriageReturn", "name: a\rload: {}\n",
             "t.yaml:1:8: control character 0x0d; write it as \"\\x0d\""},
        Case{"UnclosedBracket", "load: { sessions: 1\nname: x\n",
             "t.yaml:2:5: not valid YAML: end of map flow not found"},
        Case{"UnclosedQuote", "name: \"abc\n", "t.yaml:1:7: a quote that is not closed"},
        Case{"BadIndentation", "load:\n   sessions: 1\n  pipeline: 1\n",
             "t.yaml:3:3: not valid YAML: end of map not found; is this line indented as its "
             "neighbours?"},
        Case{"UnknownAlias", "name: *nothing\n",
             "t.yaml:1:7: not valid YAML: the referenced anchor is not defined"}),
    NameOf);

TEST(LoaderFaults, CountsCharactersNotBytes) {
  EXPECT_EQ(
      ParseError("{ name: \"größe\", rond: 1 }\n"),
      "t.yaml:1:18: unknown key 'rond'; keys here: name, targets, tables, operations, script, "
      "load, sweep, rounds, order, compare, thresholds, reset, cleanup, audit, seed, stages, "
      "conditions, commands, print_as");
}

TEST(LoaderFaults, AreAllNamedInOrder) {
  EXPECT_EQ(
      ParseError("load:\n  sesions: 1\n  warmup: 5\nrounds: x\norder: sam\n"),
      "t.yaml:2:3: load: unknown key 'sesions'; did you mean 'sessions'?\n"
      "t.yaml:3:11: load.warmup: duration \"5\" lacks a unit; write 5s or 5ms\n"
      "t.yaml:4:9: rounds: 'x' is not a whole number\n"
      "t.yaml:5:8: order: 'sam' is not one of mirrored, same, blocked, shuffled; did you mean "
      "'same'?");
}

TEST(LoaderFaults, AreListedUpToTwenty) {
  std::string text;
  for (int i = 0; i < 25; ++i) text += fmt::format("unknown{}: 1\n", i);
  const std::string error = ParseError(text);
  EXPECT_NE(error.find("unknown19"), std::string::npos);
  EXPECT_EQ(error.find("unknown20"), std::string::npos);
  EXPECT_TRUE(error.ends_with("\n... and 5 more")) << error;
}

TEST(LoaderFaults, TooDeep) {
  std::string text = "name: ";
  for (int i = 0; i < kMaxSpecDepth; ++i) text += '[';
  for (int i = 0; i < kMaxSpecDepth; ++i) text += ']';
  EXPECT_TRUE(ParseError(text).starts_with("t.yaml:1:70: nested more than 64 deep\n"));
}

TEST(LoaderFaults, FarTooDeepForTheParser) {
  const std::string text = "name: " + std::string(100'000, '[');
  EXPECT_NE(ParseError(text).find("t.yaml:1:"), std::string::npos);
}

// Each of these would take minutes, were a step of the way quadratic.
TEST(LoaderFaults, LargeFilesTakeLinearTime) {
  constexpr std::size_t kBytes = 256 * 1024;
  const auto filled = [](std::string text, std::string_view piece, std::string_view end) {
    while (text.size() + piece.size() + end.size() <= kBytes) text += piece;
    return text.append(end);
  };
  EXPECT_EQ(ParseError(filled("thresholds: [a", ",a", "]")), "ok");
  EXPECT_EQ(ParseError(filled("name: \"", "ö", "\"")), "ok");
  EXPECT_TRUE(ParseError(filled("", "a: 1\n", "")).ends_with(" more"));
  EXPECT_TRUE(ParseError(filled("", "[{", "")).starts_with("t.yaml:1:"));
}

TEST(LoaderFaults, TooLarge) {
  EXPECT_EQ(ParseError(std::string(kMaxSpecBytes + 1, ' ')),
            "t.yaml:1:1: larger than 4 MiB, which no spec needs");
}

TEST(LoaderFaults, FileThatIsNotThere) {
  const StatusOr<SpecDocument> document = LoadSpec("/nowhere/a.yaml");
  EXPECT_EQ(document.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(StatusText(document.status()), "/nowhere/a.yaml: No such file or directory");
  EXPECT_EQ(StatusText(LoadSpec("/").status()), "/: Is a directory");
}

TEST(LoaderFaults, ShowNoSecret) {
  const std::string error =
      ParseError("targets: { s: { mysql: { password: { vaule: hunter2 }, port: x } } }\n");
  EXPECT_EQ(error.find("hunter2"), std::string::npos) << error;
}

}  // namespace
}  // namespace cavalry::spec
