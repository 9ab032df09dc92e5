CREATE HIERARCHY h AS TREE (('a', 'x'), ('a', 'y'));
