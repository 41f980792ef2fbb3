"""The parts of `EvidenceScaling`: standardisation, features, the prior on precisions, and the pool of maps."""
