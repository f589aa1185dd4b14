"""The protocols: each a pure value of `core.rules.Rules`, knowing nothing of the others."""
