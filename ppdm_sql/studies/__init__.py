"""Studies: releases of several tables that go out together, about the same persons."""
