// Tiles of matrices that are read along one dimension and used along the other.
#pragma once

#include "device/types.h"

namespace device {

// piece: transposeBlocks Halves8 Words8 Longs4
#ifndef __CUDACC__
typedef unsigned short Halves8 __attribute__((vector_size(16)));
typedef unsigned int Words8 __attribute__((vector_size(32)));
typedef unsigned long long Longs4 __attribute__((vector_size(32)));

/// Eight columns of eight 16-bit elements each become rows; strides are in bytes.
static inline void transposeBlock(const char* from, int64 stride, char* to, int64 toStride,
                                  Halves8*) {
  Halves8 r[8];
  for (int i = 0; i < 8; ++i) {
    __builtin_memcpy(&r[i], from + i * stride, 16);
  }
  Halves8 t[8];
  for (int i = 0; i < 8; i += 2) {
    t[i] = __builtin_shufflevector(r[i], r[i + 1], 0, 8, 1, 9, 2, 10, 3, 11);
    t[i + 1] = __builtin_shufflevector(r[i], r[i + 1], 4, 12, 5, 13, 6, 14, 7, 15);
  }
  for (int i = 0; i < 8; i += 4) {
    r[i] = __builtin_shufflevector(t[i], t[i + 2], 0, 1, 8, 9, 2, 3, 10, 11);
    r[i + 1] = __builtin_shufflevector(t[i], t[i + 2], 4, 5, 12, 13, 6, 7, 14, 15);
    r[i + 2] = __builtin_shufflevector(t[i + 1], t[i + 3], 0, 1, 8, 9, 2, 3, 10, 11);
    r[i + 3] = __builtin_shufflevector(t[i + 1], t[i + 3], 4, 5, 12, 13, 6, 7, 14, 15);
  }
  for (int i = 0; i < 4; ++i) {
    const Halves8 low = __builtin_shufflevector(r[i], r[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    const Halves8 high = __builtin_shufflevector(r[i], r[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
    __builtin_memcpy(to + 2 * i * toStride, &low, 16);
    __builtin_memcpy(to + (2 * i + 1) * toStride, &high, 16);
  }
}

/// Eight columns of eight 32-bit elements.
static inline void transposeBlock(const char* from, int64 stride, char* to, int64 toStride,
                                  Words8*) {
  Words8 r[8];
  for (int i = 0; i < 8; ++i) {
    __builtin_memcpy(&r[i], from + i * stride, 32);
  }
  Words8 t[8];
  for (int i = 0; i < 8; i += 2) {
    t[i] = __builtin_shufflevector(r[i], r[i + 1], 0, 8, 1, 9, 4, 12, 5, 13);
    t[i + 1] = __builtin_shufflevector(r[i], r[i + 1], 2, 10, 3, 11, 6, 14, 7, 15);
  }
  for (int i = 0; i < 8; i += 4) {
    r[i] = __builtin_shufflevector(t[i], t[i + 2], 0, 1, 8, 9, 4, 5, 12, 13);
    r[i + 1] = __builtin_shufflevector(t[i], t[i + 2], 2, 3, 10, 11, 6, 7, 14, 15);
    r[i + 2] = __builtin_shufflevector(t[i + 1], t[i + 3], 0, 1, 8, 9, 4, 5, 12, 13);
    r[i + 3] = __builtin_shufflevector(t[i + 1], t[i + 3], 2, 3, 10, 11, 6, 7, 14, 15);
  }
  for (int i = 0; i < 4; ++i) {
    const Words8 low = __builtin_shufflevector(r[i], r[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    const Words8 high = __builtin_shufflevector(r[i], r[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
    __builtin_memcpy(to + i * toStride, &low, 32);
    __builtin_memcpy(to + (i + 4) * toStride, &high, 32);
  }
}

/// Four columns of four 64-bit elements.
static inline void transposeBlock(const char* from, int64 stride, char* to, int64 toStride,
                                  Longs4*) {
  Longs4 r[4];
  for (int i = 0; i < 4; ++i) {
    __builtin_memcpy(&r[i], from + i * stride, 32);
  }
  for (int i = 0; i < 2; ++i) {
    const Longs4 first = i == 0 ? __builtin_shufflevector(r[0], r[1], 0, 4, 2, 6)
                                : __builtin_shufflevector(r[0], r[1], 1, 5, 3, 7);
    const Longs4 second = i == 0 ? __builtin_shufflevector(r[2], r[3], 0, 4, 2, 6)
                                 : __builtin_shufflevector(r[2], r[3], 1, 5, 3, 7);
    const Longs4 low = __builtin_shufflevector(first, second, 0, 1, 4, 5);
    const Longs4 high = __builtin_shufflevector(first, second, 2, 3, 6, 7);
    __builtin_memcpy(to + i * toStride, &low, 32);
    __builtin_memcpy(to + (i + 2) * toStride, &high, 32);
  }
}

template <class Block>
static inline void transposeBlocks(const char* from, int64 stride, int64 rows, int64 columns,
                                   char* to, int64 toStride, int64 size, int64 side) {
  for (int64 column = 0; column + side <= columns; column += side) {
    for (int64 row = 0; row + side <= rows; row += side) {
      transposeBlock(from + column * stride + row * size, stride,
                     to + row * toStride + column * size, toStride, (Block*)nullptr);
    }
  }
}
#endif

// piece: transposeTile
/// `to[row * toStride + column] = from[column * stride + row]`; the two do not overlap.
template <class T>
static inline void transposeTile(const T* from, int64 stride, int64 rows, int64 columns, T* to,
                                 int64 toStride) {
  int64 side = 1;
#ifndef __CUDACC__
  const char* source = (const char*)from;
  char* target = (char*)to;
  const int64 size = sizeof(T);
  side = size == 2 || size == 4 ? 8 : size == 8 ? 4 : 1;
  if (size == 2) {
    transposeBlocks<Halves8>(source, stride * size, rows, columns, target, toStride * size, size,
                             side);
  } else if (size == 4) {
    transposeBlocks<Words8>(source, stride * size, rows, columns, target, toStride * size, size,
                            side);
  } else if (size == 8) {
    transposeBlocks<Longs4>(source, stride * size, rows, columns, target, toStride * size, size,
                            side);
  }
#endif
  const int64 doneRows = side == 1 ? 0 : rows / side * side;
  const int64 doneColumns = side == 1 ? 0 : columns / side * side;
  for (int64 column = 0; column < columns; ++column) {
    for (int64 row = column < doneColumns ? doneRows : 0; row < rows; ++row) {
      to[row * toStride + column] = from[column * stride + row];
    }
  }
}

}  // namespace device
