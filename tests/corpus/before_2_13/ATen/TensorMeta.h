// The outputs of structured kernels took names before torch 2.13.
#pragma once
#define MetaBase MetaBaseWithoutNames
#include_next <ATen/TensorMeta.h>
#undef MetaBase
#include <ATen/core/Dimname.h>

namespace at {

namespace impl {

struct MetaBase : MetaBaseWithoutNames {
  using MetaBaseWithoutNames::set_output_contiguous;
  using MetaBaseWithoutNames::set_output_raw_strided;
  using MetaBaseWithoutNames::set_output_strided;
  void set_output_strided(int64_t index, IntArrayRef sizes, IntArrayRef strides, TensorOptions options, DimnameList) {
    set_output_strided(index, sizes, strides, options);
  }
  void set_output_raw_strided(int64_t index, IntArrayRef sizes, IntArrayRef strides, TensorOptions options, DimnameList) {
    set_output_raw_strided(index, sizes, strides, options);
  }
  void set_output_contiguous(int64_t index, IntArrayRef sizes, TensorOptions options, DimnameList) {
    set_output_contiguous(index, sizes, options);
  }
};

} // namespace impl
} // namespace at
