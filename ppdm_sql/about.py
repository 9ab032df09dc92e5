"""The version of this program: what reports and stores say they were made with."""

__version__ = "0.1.0"
