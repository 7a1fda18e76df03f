# Headers that most sources parse anyway, compiled once for libraries and once for tests. They add
# nothing to what a source may use: the dev preset builds without them.

# cavalry_precompiled(TARGET PCH): lets a target use one of the two below.
function(cavalry_precompiled target pch)
  if(TARGET ${pch})
    target_precompile_headers(${target} REUSE_FROM ${pch})
    target_compile_options(${target} PRIVATE -fpch-preprocess)
  endif()
endfunction()

if(NOT CAVALRY_PCH)
  return()
endif()

set(common <algorithm> <array> <atomic> <cstdint> <functional> <map> <memory> <mutex> <optional>
           <string> <string_view> <thread> <unordered_map> <utility> <variant> <vector>
           <fmt/format.h> <absl/status/statusor.h>)
set(messages <cavalry/v1/control.pb.h> <cavalry/v1/results.pb.h> <cavalry/v1/workload.pb.h>)
file(GENERATE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/precompiled.cc CONTENT "")

add_library(cavalry_pch OBJECT ${CMAKE_CURRENT_BINARY_DIR}/precompiled.cc)
target_link_libraries(cavalry_pch PRIVATE cavalry_flags cavalry_proto absl::statusor fmt::fmt
                                          spdlog::spdlog)
target_precompile_headers(cavalry_pch PRIVATE ${common} ${messages})

if(CAVALRY_TESTS)
  find_package(GTest REQUIRED)
  add_library(cavalry_test_pch OBJECT ${CMAKE_CURRENT_BINARY_DIR}/precompiled.cc)
  target_link_libraries(cavalry_test_pch PRIVATE cavalry_flags cavalry_proto absl::statusor fmt::fmt
                                                 spdlog::spdlog GTest::gtest_main)
  target_compile_options(cavalry_test_pch PRIVATE -O0)
  target_precompile_headers(cavalry_test_pch PRIVATE ${common} ${messages} <gtest/gtest.h>)
endif()
