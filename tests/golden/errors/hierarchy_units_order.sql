CREATE HIERARCHY h AS DATE (year, month);
