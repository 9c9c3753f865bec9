// Rows of the small tables: launches, tensors, findings.
#pragma once

#include "arrow/batch.h"
#include "findings/finding.h"
#include "launch/launch.h"
#include "tilesight/client.h"

namespace tilesight::record {

void addLaunch(arrow::Rows& rows, uint32_t number, const launch::Launch& launch, const findings::LaunchReport& report,
               const std::string& bundle, int64_t programs, int64_t accesses);
void addTensor(arrow::Rows& rows, uint32_t number, const launch::Launch& launch, const ts_argument& argument);
void addFindings(arrow::Rows& rows, uint32_t number, const findings::LaunchReport& report);

}  // namespace tilesight::record
