// Stands in for ATen/NamedTensorUtils.h, which torch 2.13 no longer has: no tensor has names there.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/DimVector.h>
#include <ATen/TensorMeta.h>
#include <ATen/WrapDimUtilsMulti.h>

#include <optional>
#include <vector>

namespace at {

struct NoNamesGuard {
  NoNamesGuard() {}
  ~NoNamesGuard() {}
  void reset() {}
};

template <typename T>
bool has_names(const T&) {
  return false;
}

inline int64_t dimname_to_position(const Tensor&, Dimname) {
  TORCH_CHECK(false, "no tensor has names");
}

inline std::vector<int64_t> dimnames_to_positions(const Tensor&, DimnameList) {
  TORCH_CHECK(false, "no tensor has names");
}

[[noreturn]] inline void reportNYIDimnameOverload(const char*) {
  TORCH_CHECK(false, "no tensor has names");
}

inline const Tensor& resize_named_tensor_(const Tensor&, IntArrayRef, std::optional<MemoryFormat>) {
  TORCH_CHECK(false, "no tensor has names");
}

template <typename T>
T& internal_set_names_inplace(T& tensor, const std::vector<Dimname>&) {
  return tensor;
}

namespace namedinference {

template <typename... T>
bool are_names_equal(T&&...) {
  return true;
}

template <typename... T>
void propagate_names(T&&...) {}

template <typename... T>
void propagate_names_for_reduction(T&&...) {}

inline void propagate_names_except(const Tensor&, const Tensor&, IntArrayRef) {}

template <typename... T>
void propagate_names_for_expand(T&&...) {}

template <typename R, typename... T>
R&& propagate_names_if_nonempty(R&& result, T&&...) {
  return std::forward<R>(result);
}

template <typename... T>
std::vector<Dimname> broadcast_to_outnames(T&&...) {
  return {};
}

template <typename... T>
std::vector<Dimname> propagate_names_for_addmm(T&&...) {
  return {};
}

template <typename... T>
std::vector<Dimname> propagate_names_for_addmv(T&&...) {
  return {};
}

template <typename... T>
std::vector<Dimname> compute_broadcast_outnames(T&&...) {
  return {};
}

template <typename... T>
std::vector<Dimname> compute_matmul_outnames(T&&...) {
  return {};
}

template <typename... T>
std::vector<Dimname> compute_cdist_outnames(T&&...) {
  return {};
}

template <typename... T>
std::vector<Dimname> compute_diagonal_outnames(T&&...) {
  return {};
}

template <typename... T>
std::vector<Dimname> compute_squeeze_outnames(T&&...) {
  return {};
}

template <typename... T>
std::vector<Dimname> compute_cat_outnames(T&&...) {
  return {};
}

template <typename... T>
std::vector<Dimname> compute_bmm_outnames(T&&...) {
  return {};
}

template <typename... T>
std::vector<Dimname> compute_baddbmm_outnames(T&&...) {
  return {};
}

} // namespace namedinference
} // namespace at
