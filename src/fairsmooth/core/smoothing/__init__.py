"""Smooth scores: exact where mathematics allows, with honest intervals where it does not."""

from typing import TYPE_CHECKING

from fairsmooth._lazy import names_when_asked

if TYPE_CHECKING:
    from fairsmooth.core.smoothing.exact import smooth_network
    from fairsmooth.core.smoothing.layerwise import smooth_layerwise
    from fairsmooth.core.smoothing.probability import smooth_probability
    from fairsmooth.core.smoothing.sampled import smooth_sampled

__all__ = ["smooth_layerwise", "smooth_network", "smooth_probability", "smooth_sampled"]

# Loaded when asked for: the mixtures beside them serve linear models without torch.
_HOMES = {
    "smooth_layerwise": "fairsmooth.core.smoothing.layerwise",
    "smooth_network": "fairsmooth.core.smoothing.exact",
    "smooth_probability": "fairsmooth.core.smoothing.probability",
    "smooth_sampled": "fairsmooth.core.smoothing.sampled",
}
__getattr__ = names_when_asked(globals(), _HOMES)
