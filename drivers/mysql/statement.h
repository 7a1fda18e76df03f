// SQL text: names, values and the statement of an operation. Pure; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
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
// Appends a text literal that every mode reads alike.
void AppendPortableText(std::string_view text, std::string* sql);

// Whether the server can carry it as the name of a table, column or database.
Status CheckName(std::string_view what, std::string_view name);

// The statement of one operation, cut where its values go: pieces[0] value pieces[1] value ….
// Immutable after building; shared by all sessions. Resetting a connection and changing the user
// are no statements and have none.
class StatementTemplate {
 public:
  // REQUIRES: the plan passed CheckOperation, and outlives the object.
  explicit StatementTemplate(const OperationPlan& plan);

  const OperationPlan& plan() const { return *plan_; }
  // Sent as text even where statements are prepared: BEGIN and the like, and what is several.
  bool is_text_only() const { return is_text_only_; }
  bool is_several() const { return is_several_; }
  // What it returns may be of any number of rows: taken one by one instead of stored.
  bool is_streamed() const {
    return plan_->kind == OperationKind::kScan || plan_->kind == OperationKind::kNative;
  }
  std::size_t parameter_count() const { return sources_.size(); }
  // The column of a parameter, for its type; null: a parameter of a native statement.
  const Column* parameter_column(std::size_t parameter) const { return sources_[parameter].column; }
  const Value& parameter(const Operation& operation, std::size_t parameter) const {
    const Source& source = sources_[parameter];
    return source.is_key ? operation.key.values()[source.index] : operation.values[source.index];
  }

  // Writes the whole text statement into `sql`, keeping its capacity.
  void Write(const Operation& operation, Escaping escaping, std::string* sql) const;
  // The same with question marks, to be prepared.
  const std::string& prepared() const { return prepared_; }

 private:
  // Where a value comes from: operation.key or operation.values.
  struct Source {
    bool is_key = false;
    std::uint32_t index = 0;
    const Column* column = nullptr;
  };

  void Build();
  void BuildInsert();
  void BuildUpdate();
  void BuildMultiRead();
  void BuildScan();
  void BuildScanRange();
  void BuildNative();

  void Add(std::string_view sql) { pieces_.back().append(sql); }
  void AddName(std::uint32_t column);
  void AddSelect();
  // " WHERE `a`=? AND `b`=?" for all key columns.
  void AddWhereKey();
  void AddKeyValue(std::uint32_t index, const Column& column);
  void AddValue(std::uint32_t index, const Column* column);
  // One of operation.values, or the SQL in its place.
  void AddRowValue(std::uint32_t column, std::uint32_t index);

  const OperationPlan* plan_;
  std::vector<std::string> pieces_ = {""};
  std::vector<Source> sources_;
  std::string prepared_;
  bool is_text_only_ = false;
  bool is_several_ = false;
};

}  // namespace cavalry::drivers::mysql
