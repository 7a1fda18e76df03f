// SQL text: names, values and the statement of an operation. Pure; any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"
#include "drivers/core/operation.h"

namespace cavalry::drivers::mysql {

// How a text literal is escaped: by backslashes, or with sql_mode NO_BACKSLASH_ESCAPES by doubled
// quotes alone.
enum class Escaping { kBackslash, kQuotesOnly };

// Appends `name` in backticks, those inside doubled.
void AppendName(std::string_view name, std::string* sql);
std::string QuotedName(std::string_view name);

// Appends a value as a literal. Texts must be utf8mb4, which has no quote or backslash inside a
// character; binary values become X'..', which no mode and no character set changes.
void AppendValue(const Value& value, Escaping escaping, std::string* sql);
void AppendText(std::string_view text, Escaping escaping, std::string* sql);

// Whether the server can carry it as the name of a table, column or database.
Status CheckName(std::string_view what, std::string_view name);

// The statement of one operation, cut where its values go: pieces[0] value pieces[1] value ….
// Immutable after building; shared by all sessions.
class StatementTemplate {
 public:
  explicit StatementTemplate(const OperationPlan& plan);

  const OperationPlan& plan() const { return *plan_; }
  std::size_t parameter_count() const { return pieces_.size() - 1; }
  // The column of a parameter, for its type.
  const Column& parameter_column(std::size_t parameter) const;
  // Its value: one of operation.values, or the key, which always comes last.
  const Value& parameter(const Operation& operation, std::size_t parameter) const {
    return parameter < value_count_ ? operation.values[parameter] : operation.key.first();
  }

  // Writes the whole text statement into `sql`, keeping its capacity.
  void Write(const Operation& operation, Escaping escaping, std::string* sql) const;
  // The same with question marks, to be prepared.
  const std::string& prepared() const { return prepared_; }

 private:
  void BuildPieces();

  const OperationPlan* plan_;
  std::vector<std::string> pieces_;
  std::string prepared_;
  std::size_t value_count_ = 0;  // parameters that come from operation.values
};

}  // namespace cavalry::drivers::mysql
