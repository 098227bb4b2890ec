"""What the Python of the tree shares; helpers for sizes that eager asks too come to stand here."""

import torch
