CREATE HIERARCHY h AS DATE (month, yaer);
