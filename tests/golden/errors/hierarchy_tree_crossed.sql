CREATE HIERARCHY h AS TREE (('a', 'x', 'p'), ('b', 'x', 'q'));
