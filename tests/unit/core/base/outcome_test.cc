#include "core/base/outcome.h"

#include <string>

#include <gtest/gtest.h>

namespace cavalry {
namespace {

TEST(OutcomeTest, NamesAreThoseOfTheReport) {
  std::string names;
  for (std::size_t i = 0; i < kOutcomeCount; ++i) {
    names.append(OutcomeName(static_cast<Outcome>(i))).append(" ");
  }
  EXPECT_EQ(names, "ok miss rejected timeout broken not_sent dropped abandoned sent ");
}

}  // namespace
}  // namespace cavalry
