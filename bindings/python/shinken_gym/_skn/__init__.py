"""The parts of the bundle reader; ``shinken_gym.replay`` is its face. The specification is docs/skn.md."""
