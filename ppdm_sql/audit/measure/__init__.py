"""Figures of an audit: risk, diversity, utility. Arrays in, figures out."""
