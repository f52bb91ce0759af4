"""The methods that FairSmooth is compared with, each one file, found by presence."""
