CREATE HIERARCHY h AS FROM 'nowhere.csv';
