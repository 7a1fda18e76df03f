#include "core/stats/confidence.h"
