"""The five papers, run: one folder a paper, its claims as rows with asserted targets, its page made from them."""
