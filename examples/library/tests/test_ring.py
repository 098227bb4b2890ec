"""Tests of the operators of the library, which needs to be built for them."""

import unittest

import ring
import torch


class RingTests(unittest.TestCase):
    def test_gaps(self):
        left, right = torch.rand(3, 5), torch.rand(4, 5)
        torch.testing.assert_close(torch.ops.ring.gaps(left, right), torch.cdist(left, right, p=1))

    def test_turn(self):
        rows = torch.rand(3, 5)
        torch.testing.assert_close(torch.ops.ring.turn(rows, 1), rows.roll(1, 0))


if __name__ == "__main__":
    assert ring
    unittest.main()
