DESCRIBE RELEASE research.nope;
