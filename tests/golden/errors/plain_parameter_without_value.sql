SELECT 1;
CREATE TABLE more AS
SELECT i, '$i' AS text FROM range($patients) AS t (i);
