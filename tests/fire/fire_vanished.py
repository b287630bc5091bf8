"""The host on which lockstep runs vanishes. Needs root and ip(8), since its network is a namespace."""
from vanished import cases

__all__ = ['cases']
