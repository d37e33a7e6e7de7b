"""The parts of the SmolCUA scorer; ``shinken_gym.smolcua`` is its face. The specification is docs/smolcua.md."""
