#include "tests/unit/drivers/handlersocket/order_plans.h"

#include "tests/unit/drivers/handlersocket/conversation.h"

namespace cavalry::drivers::handlersocket {

OrderPlans::OrderPlans() {
  lines_.name = "line";
  lines_.columns = {MakeColumn("O_ID", "int"), MakeColumn("O_LINE", "smallint"),
                    MakeColumn("NAME", "varchar(20)"), MakeColumn("QTY", "int", true),
                    MakeColumn("NOTE", "text", true)};
  lines_.key_columns = {0, 1};
  lines_.key_is_number = false;
  lines_.indexes = {{.name = "by_name", .columns = {2, 3}, .unique = false}};
  tickets_.name = "ticket";
  tickets_.columns = {MakeColumn("T_ID", "bigint"), MakeColumn("WHAT", "varchar(20)")};
  tickets_.columns[0].auto_increment = true;

  const auto add = [this](const char* name, OperationKind kind, const TableSchema& table,
                          std::vector<std::uint32_t> columns) -> OperationPlan& {
    OperationPlan plan;
    plan.name = name;
    plan.index = static_cast<std::uint32_t>(plans_.size());
    plan.kind = kind;
    plan.table = &table;
    plan.columns = std::move(columns);
    return plans_.emplace_back(std::move(plan));
  };
  add("line", OperationKind::kRead, lines_, {2});
  add("lines", OperationKind::kMultiRead, lines_, {1, 2}).batch = 2;
  add("tickets", OperationKind::kMultiRead, tickets_, {0, 1}).batch = 3;
  ScanPlan& range = add("range", OperationKind::kScan, lines_, {2}).scan;
  range.columns = {0};
  range.limit = 50;
  ScanPlan& by_name = add("by_name", OperationKind::kScan, lines_, {0, 1}).scan;
  by_name.index = "by_name";
  by_name.columns = {2, 3};
  by_name.comparison = Comparison::kEqual;
  by_name.limit = 10;
  by_name.offset = 2;
  by_name.filters = {{.column = 3, .comparison = Comparison::kGreater, .value = "7"},
                     {.column = 1, .comparison = Comparison::kNotEqual, .value = "-1"},
                     {.column = 3,
                      .comparison = Comparison::kNotEqual,
                      .is_null = true,
                      .value = "",
                      .ends_scan = true}};
  ScanPlan& some = add("some_tickets", OperationKind::kScan, tickets_, {0, 1}).scan;
  some.columns = {0};
  some.comparison = Comparison::kEqual;
  some.limit = 3;
  some.in = {10, 20, 99};
  add("add_lines", OperationKind::kInsert, lines_, {0, 1, 2, 3, 4}).batch = 2;
  add("new_ticket", OperationKind::kInsert, tickets_, {1});
  add("rename", OperationKind::kUpdate, lines_, {2}).returning = true;
  add("remove", OperationKind::kDelete, lines_, {}).returning = true;
  add("drop_ticket", OperationKind::kDelete, tickets_, {});
  add("up", OperationKind::kIncrement, lines_, {3}).amount = 5;
  add("down", OperationKind::kIncrement, lines_, {3}).amount = -2;
  OperationPlan& tell = add("down_and_tell", OperationKind::kIncrement, lines_, {3});
  tell.amount = -2;
  tell.returning = true;
}

}  // namespace cavalry::drivers::handlersocket
