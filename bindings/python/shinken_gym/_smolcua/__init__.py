"""The parts of the SmolCUA scorer; ``shinken_gym.smolcua`` is its face. Specification: docs/smolcua.md."""
