// What people type wrongly: exit status and message, before anything is started.
#include "coordinator/cli/command_line.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace cavalry::cli {
namespace {

struct Ended {
  int status = 0;
  std::string out;
  std::string error;
};

Ended Type(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "cavalry");
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  Ended ended;
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  ended.status = CommandLine(static_cast<int>(argv.size()), argv.data());
  ended.out = ::testing::internal::GetCapturedStdout();
  ended.error = ::testing::internal::GetCapturedStderr();
  return ended;
}

bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(CommandLineTest, BareNameShowsTheFirstScreen) {
  const Ended ended = Type({});
  EXPECT_EQ(ended.status, 0);
  EXPECT_TRUE(Contains(ended.out, "cavalry run SPEC"));
  EXPECT_TRUE(Contains(ended.out, "cavalry check SPEC"));
}

TEST(CommandLineTest, HelpAndVersionEndWell) {
  EXPECT_TRUE(Contains(Type({"--version"}).out, CAVALRY_VERSION));
  for (const char* command : {"run", "check", "report"}) {
    const Ended ended = Type({command, "--help"});
    EXPECT_EQ(ended.status, 0);
    EXPECT_TRUE(Contains(ended.out, "Examples:")) << command;
  }
  EXPECT_TRUE(Contains(Type({"run", "--help"}).out, "Units: durations"));
}

TEST(CommandLineTest, WrongUseEndsWithTwo) {
  const std::vector<std::vector<std::string>> wrong = {
      {"fly"},
      {"run"},
      {"run", "spec.yaml", "--frobnicate"},
      {"run", "spec.yaml", "--local", "0"},
      {"run", "spec.yaml", "--local", "2", "--agents", "2"},
      {"run", "spec.yaml", "--quiet", "--json"},
      {"run", "spec.yaml", "--loop", "select"},
      {"run", "spec.yaml", "--wait-agents", "60"},
      {"run", "spec.yaml", "--on-lost-agent", "weep"},
      {"run", "spec.yaml", "--agents", "2"},
      {"run", "spec.yaml", "--listen", "nowhere"},
      {"run", "/nonexistent/spec.yaml"},
      {"check", "/nonexistent/spec.yaml"},
      {"report", "--format", "xml"},
  };
  for (const std::vector<std::string>& arguments : wrong) {
    const Ended ended = Type(arguments);
    EXPECT_EQ(ended.status, 2) << arguments.back();
    EXPECT_FALSE(ended.error.empty()) << arguments.back();
  }
}

TEST(CommandLineTest, WrongUseNamesTheCommandAndWhereHelpIs) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"fly"},
       "cavalry: 'fly' is no command; there are init, presets, check, run and report; see "
       "'cavalry --help'"},
      {{"run"}, "cavalry run: SPEC is required; see 'cavalry run --help'"},
      {{"run", "x.yaml", "--wait-agents", "60"}, "--wait-agents: duration \"60\" lacks a unit"},
      {{"check", "x.yaml", "--frob"}, "--frob; see 'cavalry check --help'"},
  };
  for (const auto& [arguments, text] : cases) {
    const Ended ended = Type(arguments);
    EXPECT_EQ(ended.status, 2);
    EXPECT_TRUE(Contains(ended.error, text)) << ended.error;
  }
}

TEST(CommandLineTest, InitWritesASpecThatIsRightAndOverwritesNothing) {
  const std::string file = ::testing::TempDir() + "cavalry-init-test.yaml";
  std::remove(file.c_str());
  const Ended first = Type({"init", "mysql://bench@db1:3307/shop", file});
  EXPECT_EQ(first.status, 0) << first.error;
  EXPECT_TRUE(Contains(first.out, "cavalry run " + file)) << first.out;
  const Ended second = Type({"init", "quickstart", file});
  EXPECT_EQ(second.status, 1);
  EXPECT_TRUE(Contains(second.error, "is there already")) << second.error;
  std::remove(file.c_str());
  for (const char* url :
       {"mysql://root@db1:3306", "mysql://root:secret@db1/x", "mysql://a b@c/d"}) {
    EXPECT_EQ(Type({"init", url, file}).status, 2) << url;
  }
  EXPECT_EQ(Type({"init", "no-such-preset", file}).status, 2);
}

TEST(CommandLineTest, PresetsAreTheFilesOfConfigs) {
  const Ended presets = Type({"presets"});
  EXPECT_EQ(presets.status, 0);
  for (const char* name : {"quickstart ", "published/e1 ", "all-options "}) {
    EXPECT_TRUE(Contains(presets.out, name)) << presets.out;
  }
}

TEST(CommandLineTest, HelpFitsTheScreen) {
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {}, {"--help"}, {"run", "--help"}, {"check", "--help"}, {"report", "--help"}}) {
    std::istringstream lines(Type(arguments).out);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100u) << line;
  }
}

TEST(CommandLineTest, CheckTakesAssignmentsAsRunDoes) {
  for (const char* command : {"run", "check"}) {
    const Ended ended =
        Type({command, "/nonexistent/spec.yaml", "--set", "load.sessions=1", "--set",
              "load.warmup=1s", "--allow-destroy", "a.b", "--allow-destroy", "a.c"});
    EXPECT_TRUE(Contains(ended.error, "/nonexistent/spec.yaml")) << ended.error;
  }
}

TEST(CommandLineTest, PlainTextBeyondLoopbackNeedsAWord) {
  const Ended ended = Type({"run", "/nonexistent/spec.yaml", "--listen", "0.0.0.0:7400"});
  EXPECT_EQ(ended.status, 2);
  EXPECT_TRUE(Contains(ended.error, "--insecure")) << ended.error;
  EXPECT_TRUE(Contains(ended.error, "passwords")) << ended.error;
  // With the word, or on loopback, the next fault is found.
  for (const std::vector<std::string>& allowed :
       {std::vector<std::string>{"--listen", "0.0.0.0:7400", "--insecure"},
        {"--listen", "127.0.0.1:7400"}}) {
    std::vector<std::string> arguments = {"run", "/nonexistent/spec.yaml"};
    arguments.insert(arguments.end(), allowed.begin(), allowed.end());
    EXPECT_TRUE(Contains(Type(arguments).error, "/nonexistent/spec.yaml"));
  }
}

}  // namespace
}  // namespace cavalry::cli
