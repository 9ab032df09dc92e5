"""An audit as people see it: verdict, page, JSON, tables; and what of it others may see."""
