-- A hospital that would read the pharmacy: it holds the agreement, and does as if it were the pharmacy.
-- So that it can be counted here, it is even given the drugs of everybody. Were the column shared, its
-- aliases would be those of the pharmacy, person by person, and so readable.
CREATE RELEASE guess.patients FROM 'people.parquet' (
    person KEY AS pseudonym(), drug SENSITIVE AS mapping()
) WITH (agreement = 'region', site = 'pharmacy');
ATTACH '../pharmacy/out.duckdb' AS pharmacy (READ_ONLY);
SELECT 'aliases of drugs that the neighbour reads' AS attack,
       round(100 * avg((g.drug = p.drug)::INTEGER), 1) AS percent,
       round(100 / count(DISTINCT p.drug), 1) AS by_chance
FROM guess.patients AS g JOIN pharmacy.study.patients AS p USING (person)
WHERE p.drug IS NOT NULL;
