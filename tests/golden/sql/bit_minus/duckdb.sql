SELECT
  CAST(CASE WHEN "s"."age" < CAST('0' AS BIGINT) THEN -1 ELSE 1 END * (
    "s"."ppdm_t1_0_0" + CASE
      WHEN "s"."ppdm_t1_0_0" >= 10
      THEN CASE WHEN "s"."ppdm_t1_0_0" % 10 < 1 THEN 9 ELSE -1 END + CASE
        WHEN "s"."ppdm_t1_0_0" >= 100
        THEN CASE WHEN "s"."ppdm_t1_0_0" % 100 < 10 THEN 90 ELSE -10 END + CASE
          WHEN "s"."ppdm_t1_0_0" >= 1000
          THEN CASE WHEN "s"."ppdm_t1_0_0" % 1000 < 100 THEN 900 ELSE -100 END + CASE
            WHEN "s"."ppdm_t1_0_0" >= 10000
            THEN CASE WHEN "s"."ppdm_t1_0_0" % 10000 < 1000 THEN 9000 ELSE -1000 END + CASE
              WHEN "s"."ppdm_t1_0_0" >= 100000
              THEN CASE WHEN "s"."ppdm_t1_0_0" % 100000 < 10000 THEN 90000 ELSE -10000 END + CASE
                WHEN "s"."ppdm_t1_0_0" >= 1000000
                THEN CASE WHEN "s"."ppdm_t1_0_0" % 1000000 < 100000 THEN 900000 ELSE -100000 END + CASE
                  WHEN "s"."ppdm_t1_0_0" >= 10000000
                  THEN CASE WHEN "s"."ppdm_t1_0_0" % 10000000 < 1000000 THEN 9000000 ELSE -1000000 END + CASE
                    WHEN "s"."ppdm_t1_0_0" >= 100000000
                    THEN CASE WHEN "s"."ppdm_t1_0_0" % 100000000 < 10000000 THEN 90000000 ELSE -10000000 END + CASE
                      WHEN "s"."ppdm_t1_0_0" >= 1000000000
                      THEN CASE
                        WHEN "s"."ppdm_t1_0_0" % 1000000000 < 100000000
                        THEN 900000000
                        ELSE -100000000
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
  ) AS BIGINT) AS "age"
FROM (
  SELECT
    "s"."age" AS "age",
    ABS(CAST("s"."age" AS BIGINT)) AS "ppdm_t1_0_0"
  FROM "clinic"."people" AS "s"
) AS "s"
