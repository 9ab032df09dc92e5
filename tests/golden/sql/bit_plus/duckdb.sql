SELECT
  CAST(CAST(CASE WHEN "s"."income" < CAST('0' AS BIGINT) THEN -1 ELSE 1 END * (
    "s"."ppdm_t1_0_0" + CASE
      WHEN "s"."ppdm_t1_0_0" >= 10
      THEN CASE WHEN "s"."ppdm_t1_0_0" % 10 >= 9 THEN -9 ELSE 1 END + CASE
        WHEN "s"."ppdm_t1_0_0" >= 100
        THEN CASE WHEN "s"."ppdm_t1_0_0" % 100 >= 90 THEN -90 ELSE 10 END + CASE
          WHEN "s"."ppdm_t1_0_0" >= 1000
          THEN CASE WHEN "s"."ppdm_t1_0_0" % 1000 >= 900 THEN -900 ELSE 100 END + CASE
            WHEN "s"."ppdm_t1_0_0" >= 10000
            THEN CASE WHEN "s"."ppdm_t1_0_0" % 10000 >= 9000 THEN -9000 ELSE 1000 END + CASE
              WHEN "s"."ppdm_t1_0_0" >= 100000
              THEN CASE WHEN "s"."ppdm_t1_0_0" % 100000 >= 90000 THEN -90000 ELSE 10000 END + CASE
                WHEN "s"."ppdm_t1_0_0" >= 1000000
                THEN CASE WHEN "s"."ppdm_t1_0_0" % 1000000 >= 900000 THEN -900000 ELSE 100000 END + CASE
                  WHEN "s"."ppdm_t1_0_0" >= 10000000
                  THEN CASE WHEN "s"."ppdm_t1_0_0" % 10000000 >= 9000000 THEN -9000000 ELSE 1000000 END + CASE
                    WHEN "s"."ppdm_t1_0_0" >= 100000000
                    THEN CASE WHEN "s"."ppdm_t1_0_0" % 100000000 >= 90000000 THEN -90000000 ELSE 10000000 END + CASE
                      WHEN "s"."ppdm_t1_0_0" >= 1000000000
                      THEN CASE
                        WHEN "s"."ppdm_t1_0_0" % 1000000000 >= 900000000
                        THEN -900000000
                        ELSE 100000000
                      END
                      ELSE 0
                    END
                    ELSE 0
                  END
                  ELSE 0
                END
                ELSE 0
              END
              ELSE 0
            END
            ELSE 0
          END
          ELSE 0
        END
        ELSE 0
      END
      ELSE 0
    END
  ) AS DECIMAL(10, 0)) * CAST('0.01' AS DECIMAL(3, 2)) AS DECIMAL(10, 2)) AS "income"
FROM (
  SELECT
    "s"."income" AS "income",
    ABS(CAST(CAST("s"."income" AS DECIMAL(18, 2)) * 100 AS BIGINT)) AS "ppdm_t1_0_0"
  FROM "clinic"."people" AS "s"
) AS "s"
