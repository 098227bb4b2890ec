// The headers of oneDNN's C++ (ideep) do not come with torch: what needs them is left out.
#pragma once
#include_next <ATen/Config.h>
#undef AT_MKLDNN_ENABLED
#define AT_MKLDNN_ENABLED() 0
#undef AT_MKLDNN_ACL_ENABLED
#define AT_MKLDNN_ACL_ENABLED() 0
