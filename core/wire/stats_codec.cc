#include "core/wire/stats_codec.h"
