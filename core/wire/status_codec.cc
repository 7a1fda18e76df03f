#include "core/wire/status_codec.h"
