// Specs for tests: a small one that is right, ways to read one, and files of the checkout.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "coordinator/spec/spec_document.h"

namespace cavalry::spec {

// One mysql target "sql", one handlersocket target "hs", a table "customer" of 1000 rows and an
// empty one "orders", operations find, add, pay and drop.
std::string GoodSpec();

// GoodSpec() with one text in it replaced. The text must be there.
std::string Changed(std::string_view from, std::string_view to);

// The spec of that text, named t.yaml. Fails the test if it cannot be read.
SpecDocument MustParse(std::string_view text);

// The error of ParseSpec, or "ok".
std::string ParseError(std::string_view text);

// The error of CheckSpec, or "ok".
std::string CheckError(std::string_view text);

// Sets the environment variables that files of configs/ ask for.
void SetConfigEnvironment();

// Paths of all files of configs/ and its folders that are specs, sorted.
std::vector<std::string> ConfigFiles();

}  // namespace cavalry::spec
