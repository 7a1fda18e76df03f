#include "tests/integration/harness/cavalry_test.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <sstream>
#include <utility>

#include <fmt/format.h>

namespace cavalry::e2e {
namespace {

void Replace(std::string* text, const std::string& what, const std::string& by) {
  for (std::size_t at = 0; (at = text->find(what, at)) != std::string::npos; at += by.size()) {
    text->replace(at, what.size(), by);
  }
}

// "{ a: 1, b: 2 }" of the pairs; those of `options` ("b: 3, c: 4") win.
std::string Mapping(const std::vector<std::pair<std::string, std::string>>& pairs,
                    const std::string& options) {
  std::string text = options;
  for (const auto& [name, value] : pairs) {
    if (std::regex_search(options, std::regex("(^|, )" + name + ":"))) continue;
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", name, value);
  }
  return "{ " + text + " }";
}

}  // namespace

std::string CavalryRun::Directory() const {
  std::error_code missing;
  for (const auto& entry : std::filesystem::directory_iterator(out_directory_, missing)) {
    if (entry.is_directory() && !entry.is_symlink()) return entry.path();
  }
  return "";
}

json CavalryRun::Report() const {
  const std::string text = ReadFile(Directory() + "/report.json");
  json report = json::parse(text, nullptr, /*allow_exceptions=*/false);
  EXPECT_FALSE(report.is_discarded()) << Printed() << "--- report.json\n" << text;
  return report;
}

void CavalryTest::SetUp() {
  if (const std::string missing = Server::Missing(); !missing.empty()) {
    GTEST_SKIP() << missing << " is not set: no MariaDB with HandlerSocket to test against "
                 << "(deploy/sandbox starts one)";
  }
  ASSERT_TRUE(std::filesystem::exists(Program("cavalry"))) << Program("cavalry");
  ASSERT_TRUE(std::filesystem::exists(Program("cavalry-agent"))) << Program("cavalry-agent");
  server_ = Server::FromEnvironment();
  sql_ = std::make_unique<Sql>(server_);
  static int tests = 0;
  database_ = fmt::format("e2e_{}_{}", getpid(), ++tests);
  sql_->Run("CREATE DATABASE " + database_);
  sql_->Run(fmt::format("GRANT ALL PRIVILEGES ON {}.* TO '{}'@'%', '{}'@'localhost'", database_,
                        server_.user, server_.user));
  sql_->Run("USE " + database_);
  std::string pattern = std::filesystem::temp_directory_path() / "cavalry-e2e-XXXXXX";
  ASSERT_NE(mkdtemp(pattern.data()), nullptr);
  folder_ = pattern;
}

void CavalryTest::TearDown() {
  if (sql_ != nullptr) {
    sql_->Run("DROP DATABASE IF EXISTS " + database_);
    sql_->Run(fmt::format("REVOKE ALL PRIVILEGES ON {}.* FROM '{}'@'%', '{}'@'localhost'",
                          database_, server_.user, server_.user));
  }
  if (!folder_.empty() && !HasFailure()) std::filesystem::remove_all(folder_);
  if (HasFailure()) std::printf("what the programs printed is kept in %s\n", folder_.c_str());
}

std::string CavalryTest::SqlTarget(const std::string& options) const {
  return "{ mysql: " +
         Mapping({{"host", server_.host},
                  {"port", std::to_string(server_.port)},
                  {"user", server_.user},
                  {"password", "{ value: \"" + server_.password + "\" }"},
                  {"database", database_}},
                 options) +
         " }";
}

std::string CavalryTest::HsTarget(const std::string& options) const {
  return "{ handlersocket: " +
         Mapping({{"host", server_.host},
                  {"port", std::to_string(server_.read_port)},
                  {"write_port", std::to_string(server_.write_port)},
                  {"secret", "{ value: \"" + server_.secret + "\" }"},
                  {"write_secret", "{ value: \"" + server_.write_secret + "\" }"}},
                 options) +
         ", tables_of: sql }";
}

std::string CavalryTest::WriteSpec(const std::string& text) {
  std::string spec = text;
  Replace(&spec, "@SQL@", SqlTarget());
  Replace(&spec, "@SQLOWNER@", "{ load: false, " + SqlTarget().substr(1));
  Replace(&spec, "@PREPARED@", SqlTarget("statements: prepared"));
  Replace(&spec, "@HS@", HsTarget());
  const std::string path = fmt::format("{}/spec{}.yaml", folder_, ++processes_);
  WriteFile(path, spec);
  return path;
}

std::string CavalryTest::Program(const std::string& name) {
  const char* folder = std::getenv("CAVALRY_BIN");
  return std::string(folder != nullptr ? folder : CAVALRY_BINARY_DIR "/bin") + "/" + name;
}

Process CavalryTest::Start(std::vector<std::string> arguments,
                           std::vector<std::string> environment) {
  ProcessOptions options;
  options.arguments = std::move(arguments);
  options.environment = std::move(environment);
  options.directory = folder_;
  options.output = fmt::format("{}/process{}", folder_, ++processes_);
  return Process(std::move(options));
}

CavalryRun CavalryTest::StartRun(const std::string& spec_path, std::vector<std::string> more,
                                 std::vector<std::string> before,
                                 std::vector<std::string> environment) {
  std::string out = fmt::format("{}/results{}", folder_, ++processes_);
  const auto named = std::find(more.begin(), more.end(), "--out");
  if (named != more.end()) {
    out = *std::next(named);
  } else {
    more.insert(more.end(), {"--out", out});
  }
  std::vector<std::string> arguments = std::move(before);
  arguments.insert(arguments.end(), {Program("cavalry"), "run", spec_path});
  arguments.insert(arguments.end(), more.begin(), more.end());
  return CavalryRun(Start(std::move(arguments), std::move(environment)), out);
}

CavalryRun CavalryTest::RunTo(int exit_status, const std::string& spec_text,
                              std::vector<std::string> more) {
  CavalryRun run = StartRun(WriteSpec(spec_text), std::move(more));
  EXPECT_EQ(run.Wait(), exit_status) << run.Printed();
  return run;
}

Process CavalryTest::StartAgent(int port, const std::string& name) {
  return Start({Program("cavalry-agent"), "--coordinator", fmt::format("127.0.0.1:{}", port),
                "--name", name, "--workers", "1"});
}

void CavalryTest::AwaitGrowth(CavalryRun* run, const std::string& number_query, std::int64_t by) {
  ASSERT_TRUE(run->process().AwaitText("step 1/")) << run->Printed();
  std::int64_t first = -1;
  const bool grew = Await([&] {
    if (!run->process().running()) return true;
    const std::int64_t now = sql().Number(number_query);
    if (first < 0) first = now;
    return now >= first + by;
  });
  ASSERT_TRUE(grew && run->process().running()) << run->Printed();
}

int CavalryTest::FreePort() {
  const UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  EXPECT_EQ(bind(fd.get(), any, size), 0);
  EXPECT_EQ(getsockname(fd.get(), any, &size), 0);
  return ntohs(address.sin_port);
}

std::int64_t CavalryTest::ServerSessions() {
  return sql_->Number(fmt::format(
      "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE DB = '{}' AND USER = '{}'",
      database_, server_.user));
}

std::vector<std::string> LinesWith(const std::string& text, const std::string& part) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    if (line.find(part) != std::string::npos) lines.push_back(line);
  }
  return lines;
}

}  // namespace cavalry::e2e
