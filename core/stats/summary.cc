#include "core/stats/summary.h"
