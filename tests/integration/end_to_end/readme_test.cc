// README.md says what works: every command of its code blocks is run, made small, and its first
// spec is run as it stands but for the server's address. A command that this test does not know
// fails it.
#include <signal.h>
#include <unistd.h>

#include <map>
#include <sstream>

#include <fmt/format.h>

#include "tests/integration/harness/cavalry_test.h"

namespace cavalry::e2e {
namespace {

struct Block {
  std::string language;
  std::string text;
};

std::vector<Block> CodeBlocks(const std::string& markdown) {
  std::vector<Block> blocks;
  bool inside = false;
  std::istringstream lines(markdown);
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("```", 0) == 0) {
      inside = !inside;
      if (inside) blocks.push_back({line.substr(3), ""});
    } else if (inside) {
      blocks.back().text += line + "\n";
    }
  }
  return blocks;
}

// Words of a command line without its comment. README's need no quotes.
std::vector<std::string> Words(const std::string& line) {
  std::istringstream stream(line.substr(0, line.find(" #")));
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

class ReadmeTest : public CavalryTest {
 protected:
  static std::string Readme() { return ReadFile(CAVALRY_SOURCE_DIR "/README.md"); }

  // The first spec of README.md as mine.yaml in the test's folder, with the sandbox's address.
  void SaveMine() {
    for (const Block& block : CodeBlocks(Readme())) {
      if (block.language != "yaml") continue;
      std::string spec = block.text;
      const auto replace = [&](const std::string& what, const std::string& by) {
        const std::size_t at = spec.find(what);
        ASSERT_NE(at, std::string::npos) << what << " in\n" << spec;
        spec.replace(at, what.size(), by);
      };
      replace("port: 3306", fmt::format("port: {}", server().port));
      replace("database: test", "database: " + database());
      replace("user: bench", "user: " + server().user);
      replace("handlersocket: { host: 127.0.0.1,",
              fmt::format("handlersocket: {{ host: 127.0.0.1, port: {}, write_port: {},",
                          server().read_port, server().write_port));
      WriteFile(folder() + "/mine.yaml", spec);
      return;
    }
    FAIL() << "README.md has no spec";
  }

  std::vector<std::vector<std::string>> Commands() {
    std::vector<std::vector<std::string>> commands;
    for (const Block& block : CodeBlocks(Readme())) {
      if (block.language != "sh") continue;
      std::istringstream lines(block.text);
      for (std::string line; std::getline(lines, line);) {
        if (std::vector<std::string> words = Words(line); !words.empty()) commands.push_back(words);
      }
    }
    return commands;
  }

  // `cavalry run …` of README.md, small: what is said later wins.
  static std::vector<std::string> Small(std::vector<std::string> words) {
    for (const char* assignment : {"tables.customer.rows=2k", "load.warmup=100ms",
                                   "load.stop_after.duration=300ms", "rounds=1", "thresholds=[]"}) {
      words.insert(words.end(), {"--set", assignment});
    }
    return words;
  }

  // The commands for several hosts, with this one in the place of all.
  void RunOnLoopback(std::vector<std::string> coordinator, std::vector<std::string> agent) {
    const int port = FreePort();
    const std::string shown = ":7400";
    const auto move_to_port = [&](std::string* word, const std::string& host) {
      if (!word->ends_with(shown)) return;
      *word = fmt::format("{}:{}", host.empty() ? word->substr(0, word->rfind(':')) : host, port);
    };
    for (std::string& word : coordinator) move_to_port(&word, "");
    for (std::string& word : agent) move_to_port(&word, "127.0.0.1");
    Process first = StartInFolder(agent);
    Process run = StartInFolder(Small(coordinator));
    Process second = StartInFolder(agent);
    EXPECT_EQ(run.Wait(), 0) << run.out() << run.err() << first.err() << second.err();
    for (Process* process : {&first, &second}) {
      EXPECT_TRUE(process->running()) << "an agent waits for the next run\n" << process->err();
      process->Signal(SIGTERM);
      EXPECT_EQ(process->Wait(), 0) << process->err();
    }
  }

  Process StartInFolder(std::vector<std::string> words) {
    words[0] = Program(words[0]);
    return Start(std::move(words), {"BENCH_PW=" + server().password});
  }
};

TEST_F(ReadmeTest, EveryCommandWorks) {
  SaveMine();
  std::vector<std::string> listening;
  int done = 0;
  for (const std::vector<std::string>& words : Commands()) {
    const std::string line = fmt::format("{}", fmt::join(words, " "));
    SCOPED_TRACE(line);
    if (words[0] == "deploy/quickstart" || words[0] == "tests/run") {
      // They install and build; that they are there and explain themselves is what can be seen.
      const std::string script = std::string(CAVALRY_SOURCE_DIR "/") + words[0];
      EXPECT_EQ(access(script.c_str(), X_OK), 0);
      Process help = Start({script, "--help"});
      EXPECT_EQ(help.Wait(), 0) << help.err();
    } else if (words[0] == "cavalry" && line.find("--listen") != std::string::npos) {
      listening = words;
    } else if (words[0] == "cavalry-agent") {
      ASSERT_FALSE(listening.empty()) << "an agent without a coordinator";
      RunOnLoopback(listening, words);
    } else if (words[0] == "cavalry" && (words[1] == "init" || words[1] == "presets")) {
      Process command = StartInFolder(words);
      EXPECT_EQ(command.Wait(), 0) << command.out() << command.err();
    } else if (words[0] == "cavalry" && words[1] == "check") {
      Process check = StartInFolder(words);
      EXPECT_EQ(check.Wait(), 0) << check.out() << check.err();
      std::vector<std::string> connect = words;
      connect.emplace_back("--connect");
      Process connected = StartInFolder(connect);
      EXPECT_EQ(connected.Wait(), 0) << connected.out() << connected.err();
    } else if (words[0] == "cavalry" && words[1] == "run") {
      Process run = StartInFolder(Small(words));
      EXPECT_EQ(run.Wait(), 0) << run.out() << run.err();
    } else {
      ADD_FAILURE() << "README.md shows a command that this test does not know";
    }
    ++done;
  }
  EXPECT_GE(done, 7) << "commands in README.md";
  Process report = StartInFolder({"cavalry", "report"});
  EXPECT_EQ(report.Wait(), 0) << report.err();
  EXPECT_NE(report.out().find("customers by key"), std::string::npos) << report.out();
}

TEST_F(ReadmeTest, NamedFilesExist) {
  const std::string text = Readme();
  for (std::size_t at = 0; (at = text.find("](", at)) != std::string::npos; ++at) {
    const std::string link = text.substr(at + 2, text.find(')', at) - at - 2);
    if (link.rfind("http", 0) == 0) continue;
    EXPECT_EQ(access((CAVALRY_SOURCE_DIR "/" + link).c_str(), R_OK), 0) << link;
  }
}

TEST_F(ReadmeTest, ConfigsRunOnTheSandbox) {
  const std::vector<std::string> environment = {"CAVALRY_MARIADB_DATABASE=" + database()};
  struct Config {
    const char* name;
    const char* rows;
  };
  for (const Config& config :
       {Config{"quickstart", "tables.customer.rows=2k"}, {"first-write", "tables.stock.rows=2k"}}) {
    CavalryRun run = StartRun(
        fmt::format("{}/configs/{}.yaml", CAVALRY_SOURCE_DIR, config.name),
        {"--local", "2", "--set", "load.warmup=100ms", "--set", "load.stop_after.duration=300ms",
         "--set", "rounds=1", "--set", config.rows, "--set", "thresholds=[\"failed == 0%\"]"},
        {}, environment);
    EXPECT_EQ(run.Wait(), 0) << config.name << run.Printed();
    ExpectIdentities(run.Report(), config.name);
  }
}

}  // namespace
}  // namespace cavalry::e2e
