#pragma once

// What this tree's PyTorch offers for symbolic shapes. symfix never emits a name that the headers of a tree do not
// declare; a checkout of PyTorch declares these in c10/core and ATen/core, this small tree does it here.

#include <cstdint>

#define TORCH_SYM_CHECK(cond, ...) TORCH_CHECK((cond).expect_true(__FILE__, __LINE__), __VA_ARGS__)
#define TORCH_GUARD_OR_FALSE(cond) c10::guard_or_false((cond), __FILE__, __LINE__)
#define TORCH_GUARD_OR_TRUE(cond) c10::guard_or_true((cond), __FILE__, __LINE__)

namespace c10 {

class SymInt {
 public:
  int64_t guard_int(const char* file, int64_t line) const;
};
class SymFloat;
class SymBool {
 public:
  bool expect_true(const char* file, int64_t line) const;
  SymInt toSymInt() const;
};
class SymIntArrayRef;
class SymDimVector;

SymIntArrayRef fromIntArrayRefSlow(IntArrayRef array_ref);

struct IValue {
  SymInt toSymInt() &&;
  std::vector<SymInt> toSymIntVector() const;
};

struct TensorImpl {
  void set_sizes_and_strides(
      c10::SymIntArrayRef sizes,
      c10::SymIntArrayRef strides,
      std::optional<c10::SymInt> storage_offset = std::nullopt);
  void set_storage_offset(int64_t storage_offset);
};

} // namespace c10

namespace at {

class OptionalSymIntArrayRef;

class TensorBase {
 public:
  int64_t dim() const;
  c10::SymInt sym_numel() const;
  c10::SymInt sym_size(int64_t dim) const;
  c10::SymIntArrayRef sym_sizes() const;
  c10::SymInt sym_stride(int64_t dim) const;
  c10::SymIntArrayRef sym_strides() const;
  c10::SymInt sym_storage_offset() const;
  c10::SymInt sym_nbytes() const;
};

} // namespace at
