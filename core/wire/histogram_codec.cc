#include "core/wire/histogram_codec.h"
