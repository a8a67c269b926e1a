"""Information loss: what a release costs its reader."""

from shoal.measures.losses.classes import average_class_size, class_sizes, discernibility
from shoal.measures.losses.ncp import Loss, iloss, iloss_paper, relative_loss

__all__ = [
    "Loss",
    "average_class_size",
    "class_sizes",
    "discernibility",
    "iloss",
    "iloss_paper",
    "relative_loss",
]
