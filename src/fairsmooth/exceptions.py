"""The few errors and warnings a caller would catch."""


class FairSmoothError(Exception):
    """Base of every error this library raises on purpose."""


class InputError(FairSmoothError, ValueError):
    """What was given cannot be used; the message says what was expected."""


class GroupError(InputError):
    """A sensitive group cannot be trained or certified on."""


class ModelFileError(FairSmoothError, ValueError):
    """A model file is damaged, altered, or was not written by this library."""


class MissingExtra(FairSmoothError, ImportError):
    """A part of the library was used whose packages are not installed; the message says how."""


class ScaleWarning(UserWarning):
    """Columns are on scales that one level of noise cannot serve; standardise them."""


class ParityWarning(UserWarning):
    """The gaps of decisions are not those that the parity term's surrogate shows."""


class NoGuarantee(FairSmoothError):
    """No model can be guaranteed to keep the limits; the guarantee that failed is attached.

    Attributes
    ----------
    guarantee : object
        What was reached on the safety rows, or ``None``.
    """

    def __init__(self, message: str, guarantee: object = None) -> None:
        super().__init__(message)
        self.guarantee = guarantee


class ConstantRuleWarning(UserWarning):
    """Within the limits on the gaps, nothing better than one decision for everybody was found."""
