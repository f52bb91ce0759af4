"""Smooth scores: exact where mathematics allows, with honest intervals where it does not."""

from fairsmooth.core.smoothing.exact import smooth_network
from fairsmooth.core.smoothing.layerwise import smooth_layerwise
from fairsmooth.core.smoothing.probability import smooth_probability
from fairsmooth.core.smoothing.sampled import smooth_sampled

__all__ = ["smooth_layerwise", "smooth_network", "smooth_probability", "smooth_sampled"]
