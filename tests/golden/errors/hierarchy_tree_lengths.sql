CREATE HIERARCHY h AS TREE (('a', 'x'), ('b', 'x', 'y'));
