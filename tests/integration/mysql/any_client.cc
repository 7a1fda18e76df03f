#include "tests/integration/mysql/any_client.h"

#include "drivers/mysql/mysql_driver.h"

namespace cavalry::drivers::mysql {

AnyClient::AnyClient(Settings settings, const std::vector<OperationPlan>& plans,
                     Nanos operation_timeout, Nanos connect_timeout)
    : settings_(std::move(settings)), plans_(plans) {
  const Status checked = GetDriver().Check(settings_, plans_);
  EXPECT_TRUE(checked.ok()) << checked;
  ClientConfig config;
  config.settings = &settings_;
  config.operations = &plans_;
  config.connect_timeout = connect_timeout;
  config.operation_timeout = operation_timeout;
  auto factory = GetDriver().NewClientFactory(config);
  EXPECT_TRUE(factory.ok()) << factory.status();
  factory_ = std::move(factory).value();
  if (auto* of_blocking = std::get_if<std::unique_ptr<BlockingFactory>>(&factory_)) {
    blocking_ = (*of_blocking)->NewClient();
  } else {
    pollable_ = std::get<std::unique_ptr<PollableFactory>>(factory_)->NewClient();
  }
}

Result AnyClient::Connect() {
  if (blocking_ != nullptr) return Result(blocking_->Connect());
  return Result(Drive(pollable_.get(), pollable_->StartConnect()));
}

Result AnyClient::Run(const OperationPlan& plan, Key key, std::span<const Value> values,
                      RowVisitor* rows) {
  const Operation operation{&plan, key, values, rows};
  if (blocking_ != nullptr) return Result(blocking_->Run(operation));
  return Result(Drive(pollable_.get(), pollable_->Start(operation)));
}

Result AnyClient::Close() {
  if (blocking_ == nullptr) return Result(Drive(pollable_.get(), pollable_->StartClose()));
  blocking_->Close();
  return Result(OpResult{});
}

std::string AnyClient::RequestText() const {
  return std::string(blocking_ != nullptr ? blocking_->request_text() : pollable_->request_text());
}

}  // namespace cavalry::drivers::mysql
