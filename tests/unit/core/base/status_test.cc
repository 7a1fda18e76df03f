#include "core/base/status.h"

#include <cerrno>

#include <gtest/gtest.h>

#include "core/base/check.h"

namespace cavalry {
namespace {

TEST(StatusTest, FormatsItsText) {
  const Status status = Unavailable("connect {}:{}: {}", "10.0.0.5", 9999, "connection refused");
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(StatusText(status), "connect 10.0.0.5:9999: connection refused");
  EXPECT_EQ(StatusText(absl::OkStatus()), "");
}

TEST(StatusTest, AnnotateKeepsTheCodeAndLeavesOkAlone) {
  const Status status = Annotate(InvalidArgument("bad"), "spec.yaml:3:7");
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(StatusText(status), "spec.yaml:3:7: bad");
  EXPECT_TRUE(Annotate(absl::OkStatus(), "x").ok());
}

TEST(StatusTest, ErrnoHasNameAndCode) {
  const Status status = ErrnoStatus(ENOENT, "open /none");
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(StatusText(status), "open /none: No such file or directory");
}

StatusOr<int> Half(int number) {
  if (number % 2 != 0) return InvalidArgument("{} is odd", number);
  return number / 2;
}

StatusOr<int> Quarter(int number) {
  CAVALRY_ASSIGN_OR_RETURN(const int half, Half(number));
  CAVALRY_ASSIGN_OR_RETURN(const int quarter, Half(half));
  return quarter;
}

Status IsQuarterable(int number) {
  CAVALRY_RETURN_IF_ERROR(Quarter(number).status());
  return absl::OkStatus();
}

TEST(StatusTest, MacrosReturnTheFirstError) {
  EXPECT_EQ(*Quarter(8), 2);
  EXPECT_EQ(StatusText(Quarter(6).status()), "3 is odd");
  EXPECT_TRUE(IsQuarterable(4).ok());
  EXPECT_FALSE(IsQuarterable(5).ok());
}

TEST(CheckDeathTest, NamesTheCondition) {
  const int two = 2;
  CAVALRY_CHECK(two == 2);
  EXPECT_DEATH(CAVALRY_CHECK(two == 3), "status_test.cc:.*check failed: two == 3");
}

}  // namespace
}  // namespace cavalry
