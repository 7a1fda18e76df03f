#include "core/stats/latency_histogram.h"
