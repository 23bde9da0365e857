"""The arithmetic of judging: agreement, calibration, corrected rates, preferences."""
