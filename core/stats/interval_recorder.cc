#include "core/stats/interval_recorder.h"
