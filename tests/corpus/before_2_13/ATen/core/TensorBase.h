// Tensors had the methods of named tensors before torch 2.13; they are put before one that is declared there.
#pragma once

#include <ATen/core/Dimname.h>

#include <vector>

#define is_view                                     \
  has_names() const {                               \
    return false;                                   \
  }                                                 \
  DimnameList names() const {                       \
    return {};                                      \
  }                                                 \
  template <typename T = Tensor>                    \
  T refine_names(const std::vector<Dimname>&) const; \
  bool is_view
#include_next <ATen/core/TensorBase.h>
#undef is_view
