#include "core/stats/operation_counters.h"
