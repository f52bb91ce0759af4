"""The paper's tables and figures: declarations only, found by presence."""
