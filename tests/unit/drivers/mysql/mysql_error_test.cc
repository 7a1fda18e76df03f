#include "drivers/mysql/mysql_error.h"

#include <gtest/gtest.h>

namespace cavalry::drivers::mysql {
namespace {

struct Case {
  unsigned int error;
  Outcome outcome;
  Severity severity;
  bool write_unknown;
};

TEST(ClassifyError, FollowsTheTableForOperations) {
  const Case cases[] = {
      {1062, Outcome::kRejected, Severity::kNormal, false},
      {1213, Outcome::kRejected, Severity::kNormal, false},
      {1205, Outcome::kRejected, Severity::kNormal, false},
      {1020, Outcome::kRejected, Severity::kNormal, false},
      {1406, Outcome::kRejected, Severity::kNormal, false},
      {1243, Outcome::kRejected, Severity::kNormal, false},
      {1615, Outcome::kRejected, Severity::kNormal, false},
      {1317, Outcome::kRejected, Severity::kNormal, true},
      {1969, Outcome::kRejected, Severity::kNormal, true},
      {1927, Outcome::kRejected, Severity::kReconnect, true},
      {1053, Outcome::kRejected, Severity::kReconnect, true},
      {1153, Outcome::kRejected, Severity::kReconnect, false},
      {1158, Outcome::kRejected, Severity::kReconnect, true},
      {1146, Outcome::kRejected, Severity::kFatal, false},
      {1054, Outcome::kRejected, Severity::kFatal, false},
      {1142, Outcome::kRejected, Severity::kFatal, false},
      {1064, Outcome::kRejected, Severity::kFatal, false},
      {1290, Outcome::kRejected, Severity::kFatal, false},
      {2006, Outcome::kBroken, Severity::kReconnect, true},
      {2013, Outcome::kBroken, Severity::kReconnect, true},
      {2014, Outcome::kBroken, Severity::kReconnect, true},
      {2027, Outcome::kBroken, Severity::kReconnect, true},
      {2020, Outcome::kNotSent, Severity::kReconnect, false},
      {5014, Outcome::kBroken, Severity::kReconnect, true},
  };
  for (const Case& expected : cases) {
    const ErrorClass actual = ClassifyError(expected.error, ErrorPhase::kOperation);
    EXPECT_EQ(actual.outcome, expected.outcome) << expected.error;
    EXPECT_EQ(actual.severity, expected.severity) << expected.error;
    EXPECT_EQ(actual.write_unknown, expected.write_unknown) << expected.error;
    const bool retryable =
        expected.error == 1213 || expected.error == 1205 || expected.error == 1020;
    EXPECT_EQ(actual.retryable, retryable) << expected.error;
  }
}

TEST(ClassifyError, FollowsTheTableForConnects) {
  const Case cases[] = {
      {1040, Outcome::kRejected, Severity::kReconnect, false},
      {1203, Outcome::kRejected, Severity::kReconnect, false},
      {1226, Outcome::kRejected, Severity::kReconnect, false},
      {1461, Outcome::kRejected, Severity::kReconnect, false},
      {1129, Outcome::kRejected, Severity::kFatal, false},
      {1130, Outcome::kRejected, Severity::kFatal, false},
      {1045, Outcome::kRejected, Severity::kFatal, false},
      {1698, Outcome::kRejected, Severity::kFatal, false},
      {1044, Outcome::kRejected, Severity::kFatal, false},
      {1049, Outcome::kRejected, Severity::kFatal, false},
      {1146, Outcome::kRejected, Severity::kFatal, false},
      {2059, Outcome::kRejected, Severity::kFatal, false},
      {2026, Outcome::kRejected, Severity::kReconnect, false},
      {2002, Outcome::kNotSent, Severity::kReconnect, false},
      {2003, Outcome::kNotSent, Severity::kReconnect, false},
      {2004, Outcome::kNotSent, Severity::kReconnect, false},
      {2005, Outcome::kNotSent, Severity::kReconnect, false},
      {2013, Outcome::kBroken, Severity::kReconnect, true},
  };
  for (const Case& expected : cases) {
    const ErrorClass actual = ClassifyError(expected.error, ErrorPhase::kConnect);
    EXPECT_EQ(actual.outcome, expected.outcome) << expected.error;
    EXPECT_EQ(actual.severity, expected.severity) << expected.error;
    EXPECT_EQ(actual.write_unknown, expected.write_unknown) << expected.error;
  }
}

TEST(ClassifyError, AnErrorThatIsNotKnownIsTheServersAnswer) {
  EXPECT_EQ(ClassifyError(4999, ErrorPhase::kOperation).outcome, Outcome::kRejected);
  EXPECT_EQ(ClassifyError(4999, ErrorPhase::kOperation).severity, Severity::kNormal);
  EXPECT_EQ(ClassifyError(4999, ErrorPhase::kConnect).severity, Severity::kReconnect);
}

TEST(ConnectErrorText, SaysWhereWhatAndWhatToDo) {
  ServerAddress address;
  address.label = "db1:3306";
  address.user = "bench";
  address.database = "shop";
  EXPECT_EQ(ConnectErrorText(2003, "Can't connect to server on '10.0.0.5' (111)", address),
            "db1:3306: Can't connect to server on '10.0.0.5' (111) Connection refused; is the "
            "server running, and are host and port right?");
  // What the library says of a refused connection as well as of one that nobody answers.
  EXPECT_EQ(ConnectErrorText(2002, "Can't connect to server on '10.0.0.5' (115)", address),
            "db1:3306: Can't connect to server on '10.0.0.5' (refused, or no answer in time); is "
            "the server running, and are host and port right?");
  EXPECT_EQ(ConnectErrorText(1049, "Unknown database 'shop'", address),
            "db1:3306: Unknown database 'shop'; create it (CREATE DATABASE `shop`) or change the "
            "target's database");
  EXPECT_NE(ConnectErrorText(1045, "Access denied", address).find("user \"bench\""),
            std::string::npos);
  EXPECT_EQ(ConnectErrorText(9999, "Odd (7)", address), "db1:3306: Odd (7)");
  EXPECT_EQ(ConnectErrorText(2003, "(", address).find("db1:3306: ("), 0u);
}

TEST(IsFullBacklog, IsToldByTheErrorOfAnUnconnectedUnixSocket) {
  ServerAddress address;
  address.transport = Transport::kUnix;
  const std::string text =
      "Lost connection to server at 'handshake: reading initial communication packet', system "
      "error: 22";
  EXPECT_TRUE(IsFullBacklog(2013, text, address));
  EXPECT_FALSE(IsFullBacklog(2013, text + "2", address));
  EXPECT_FALSE(IsFullBacklog(2002, text, address));
  address.transport = Transport::kTcp;
  EXPECT_FALSE(IsFullBacklog(2013, text, address));
}

}  // namespace
}  // namespace cavalry::drivers::mysql
