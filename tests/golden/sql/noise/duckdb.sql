SELECT
  CASE
    WHEN "s"."weight" > CAST('-1e+300' AS DOUBLE)
    AND "s"."weight" < CAST('1e+300' AS DOUBLE)
    THEN "s"."weight"
  END + (
    "p"."t1_0_first_0" + (
      CASE
        WHEN "s"."ppdm_t1_0_1" IS NULL
        THEN "s"."ppdm_t1_0_3"
        WHEN "s"."ppdm_t1_0_0" < CAST('0.5' AS DOUBLE)
        THEN -(
          CASE
            WHEN "s"."ppdm_t1_0_4" IS NULL
            THEN (
              (
                (
                  (
                    (
                      (
                        (
                          (
                            CAST('0.0007745450142783414' AS DOUBLE) * "s"."ppdm_t1_0_5" + CAST('0.022723844989269184' AS DOUBLE)
                          ) * "s"."ppdm_t1_0_5" + CAST('0.2417807251774506' AS DOUBLE)
                        ) * "s"."ppdm_t1_0_5" + CAST('1.2704582524523684' AS DOUBLE)
                      ) * "s"."ppdm_t1_0_5" + CAST('3.6478483247632045' AS DOUBLE)
                    ) * "s"."ppdm_t1_0_5" + CAST('5.769497221460691' AS DOUBLE)
                  ) * "s"."ppdm_t1_0_5" + CAST('4.630337846156546' AS DOUBLE)
                ) * "s"."ppdm_t1_0_5" + CAST('1.4234371107496835' AS DOUBLE)
              ) / (
                (
                  (
                    (
                      (
                        (
                          (
                            CAST('1.0507500716444169e-09' AS DOUBLE) * "s"."ppdm_t1_0_5" + CAST('0.0005475938084995345' AS DOUBLE)
                          ) * "s"."ppdm_t1_0_5" + CAST('0.015198666563616457' AS DOUBLE)
                        ) * "s"."ppdm_t1_0_5" + CAST('0.14810397642748008' AS DOUBLE)
                      ) * "s"."ppdm_t1_0_5" + CAST('0.6897673349851' AS DOUBLE)
                    ) * "s"."ppdm_t1_0_5" + CAST('1.6763848301838038' AS DOUBLE)
                  ) * "s"."ppdm_t1_0_5" + CAST('2.053191626637759' AS DOUBLE)
                ) * "s"."ppdm_t1_0_5" + CAST('1.0' AS DOUBLE)
              )
            )
            ELSE (
              (
                (
                  (
                    (
                      (
                        (
                          (
                            CAST('2.0103343992922881e-07' AS DOUBLE) * "s"."ppdm_t1_0_4" + CAST('2.7115555687434876e-05' AS DOUBLE)
                          ) * "s"."ppdm_t1_0_4" + CAST('0.0012426609473880784' AS DOUBLE)
                        ) * "s"."ppdm_t1_0_4" + CAST('0.026532189526576124' AS DOUBLE)
                      ) * "s"."ppdm_t1_0_4" + CAST('0.29656057182850487' AS DOUBLE)
                    ) * "s"."ppdm_t1_0_4" + CAST('1.7848265399172913' AS DOUBLE)
                  ) * "s"."ppdm_t1_0_4" + CAST('5.463784911164114' AS DOUBLE)
                ) * "s"."ppdm_t1_0_4" + CAST('6.657904643501103' AS DOUBLE)
              ) / (
                (
                  (
                    (
                      (
                        (
                          (
                            CAST('2.0442631033899397e-15' AS DOUBLE) * "s"."ppdm_t1_0_4" + CAST('1.421511758316446e-07' AS DOUBLE)
                          ) * "s"."ppdm_t1_0_4" + CAST('1.8463183175100548e-05' AS DOUBLE)
                        ) * "s"."ppdm_t1_0_4" + CAST('0.0007868691311456133' AS DOUBLE)
                      ) * "s"."ppdm_t1_0_4" + CAST('0.014875361290850615' AS DOUBLE)
                    ) * "s"."ppdm_t1_0_4" + CAST('0.1369298809227358' AS DOUBLE)
                  ) * "s"."ppdm_t1_0_4" + CAST('0.599832206555888' AS DOUBLE)
                ) * "s"."ppdm_t1_0_4" + CAST('1.0' AS DOUBLE)
              )
            )
          END
        )
        ELSE (
          CASE
            WHEN "s"."ppdm_t1_0_4" IS NULL
            THEN (
              (
                (
                  (
                    (
                      (
                        (
                          (
                            CAST('0.0007745450142783414' AS DOUBLE) * "s"."ppdm_t1_0_5" + CAST('0.022723844989269184' AS DOUBLE)
                          ) * "s"."ppdm_t1_0_5" + CAST('0.2417807251774506' AS DOUBLE)
                        ) * "s"."ppdm_t1_0_5" + CAST('1.2704582524523684' AS DOUBLE)
                      ) * "s"."ppdm_t1_0_5" + CAST('3.6478483247632045' AS DOUBLE)
                    ) * "s"."ppdm_t1_0_5" + CAST('5.769497221460691' AS DOUBLE)
                  ) * "s"."ppdm_t1_0_5" + CAST('4.630337846156546' AS DOUBLE)
                ) * "s"."ppdm_t1_0_5" + CAST('1.4234371107496835' AS DOUBLE)
              ) / (
                (
                  (
                    (
                      (
                        (
                          (
                            CAST('1.0507500716444169e-09' AS DOUBLE) * "s"."ppdm_t1_0_5" + CAST('0.0005475938084995345' AS DOUBLE)
                          ) * "s"."ppdm_t1_0_5" + CAST('0.015198666563616457' AS DOUBLE)
                        ) * "s"."ppdm_t1_0_5" + CAST('0.14810397642748008' AS DOUBLE)
                      ) * "s"."ppdm_t1_0_5" + CAST('0.6897673349851' AS DOUBLE)
                    ) * "s"."ppdm_t1_0_5" + CAST('1.6763848301838038' AS DOUBLE)
                  ) * "s"."ppdm_t1_0_5" + CAST('2.053191626637759' AS DOUBLE)
                ) * "s"."ppdm_t1_0_5" + CAST('1.0' AS DOUBLE)
              )
            )
            ELSE (
              (
                (
                  (
                    (
                      (
                        (
                          (
                            CAST('2.0103343992922881e-07' AS DOUBLE) * "s"."ppdm_t1_0_4" + CAST('2.7115555687434876e-05' AS DOUBLE)
                          ) * "s"."ppdm_t1_0_4" + CAST('0.0012426609473880784' AS DOUBLE)
                        ) * "s"."ppdm_t1_0_4" + CAST('0.026532189526576124' AS DOUBLE)
                      ) * "s"."ppdm_t1_0_4" + CAST('0.29656057182850487' AS DOUBLE)
                    ) * "s"."ppdm_t1_0_4" + CAST('1.7848265399172913' AS DOUBLE)
                  ) * "s"."ppdm_t1_0_4" + CAST('5.463784911164114' AS DOUBLE)
                ) * "s"."ppdm_t1_0_4" + CAST('6.657904643501103' AS DOUBLE)
              ) / (
                (
                  (
                    (
                      (
                        (
                          (
                            CAST('2.0442631033899397e-15' AS DOUBLE) * "s"."ppdm_t1_0_4" + CAST('1.421511758316446e-07' AS DOUBLE)
                          ) * "s"."ppdm_t1_0_4" + CAST('1.8463183175100548e-05' AS DOUBLE)
                        ) * "s"."ppdm_t1_0_4" + CAST('0.0007868691311456133' AS DOUBLE)
                      ) * "s"."ppdm_t1_0_4" + CAST('0.014875361290850615' AS DOUBLE)
                    ) * "s"."ppdm_t1_0_4" + CAST('0.1369298809227358' AS DOUBLE)
                  ) * "s"."ppdm_t1_0_4" + CAST('0.599832206555888' AS DOUBLE)
                ) * "s"."ppdm_t1_0_4" + CAST('1.0' AS DOUBLE)
              )
            )
          END
        )
      END
    ) * "p"."t1_0_second_0"
  ) AS "weight",
  CASE
    WHEN "s"."ppdm_t2_0_7"
    THEN CAST("s"."income" AS DOUBLE) + (
      "p"."t2_0_first_0" + (
        CASE
          WHEN "s"."ppdm_t2_0_6" < CAST('0.5' AS DOUBLE)
          THEN LN(CAST('2.0' AS DOUBLE) * "s"."ppdm_t2_0_6")
          ELSE -LN(CAST('2.0' AS DOUBLE) * (
            CAST('1.0' AS DOUBLE) - "s"."ppdm_t2_0_6"
          ))
        END
      ) * "p"."t2_0_second_0"
    )
    WHEN NOT "s"."ppdm_t2_0_7"
    THEN CAST("s"."income" AS DOUBLE)
  END AS "income"
FROM (
  SELECT
    "s"."weight" AS "weight",
    "s"."income" AS "income",
    "s"."id" AS "id",
    "s"."ppdm_t1_0_0" AS "ppdm_t1_0_0",
    "s"."ppdm_t2_0_6" AS "ppdm_t2_0_6",
    "s"."ppdm_t2_0_7" AS "ppdm_t2_0_7",
    "s"."ppdm_t1_0_1" AS "ppdm_t1_0_1",
    "s"."ppdm_t1_0_2" AS "ppdm_t1_0_2",
    (
      "s"."ppdm_t1_0_0" - CAST('0.5' AS DOUBLE)
    ) * (
      (
        (
          (
            (
              (
                (
                  (
                    CAST('2509.0809287301227' AS DOUBLE) * "s"."ppdm_t1_0_2" + CAST('33430.57558358813' AS DOUBLE)
                  ) * "s"."ppdm_t1_0_2" + CAST('67265.7709270087' AS DOUBLE)
                ) * "s"."ppdm_t1_0_2" + CAST('45921.95393154987' AS DOUBLE)
              ) * "s"."ppdm_t1_0_2" + CAST('13731.69376550946' AS DOUBLE)
            ) * "s"."ppdm_t1_0_2" + CAST('1971.5909503065513' AS DOUBLE)
          ) * "s"."ppdm_t1_0_2" + CAST('133.14166789178438' AS DOUBLE)
        ) * "s"."ppdm_t1_0_2" + CAST('3.3871328727963665' AS DOUBLE)
      ) / (
        (
          (
            (
              (
                (
                  (
                    CAST('5226.495278852854' AS DOUBLE) * "s"."ppdm_t1_0_2" + CAST('28729.085735721943' AS DOUBLE)
                  ) * "s"."ppdm_t1_0_2" + CAST('39307.89580009271' AS DOUBLE)
                ) * "s"."ppdm_t1_0_2" + CAST('21213.794301586597' AS DOUBLE)
              ) * "s"."ppdm_t1_0_2" + CAST('5394.196021424751' AS DOUBLE)
            ) * "s"."ppdm_t1_0_2" + CAST('687.1870074920579' AS DOUBLE)
          ) * "s"."ppdm_t1_0_2" + CAST('42.31333070160091' AS DOUBLE)
        ) * "s"."ppdm_t1_0_2" + CAST('1.0' AS DOUBLE)
      )
    ) AS "ppdm_t1_0_3",
    CASE
      WHEN "s"."ppdm_t1_0_1" > CAST('5.0' AS DOUBLE)
      THEN "s"."ppdm_t1_0_1" - CAST('5.0' AS DOUBLE)
    END AS "ppdm_t1_0_4",
    "s"."ppdm_t1_0_1" - CAST('1.6' AS DOUBLE) AS "ppdm_t1_0_5"
  FROM (
    SELECT
      "s"."weight" AS "weight",
      "s"."income" AS "income",
      "s"."id" AS "id",
      "s"."ppdm_t1_0_0" AS "ppdm_t1_0_0",
      "s"."ppdm_t2_0_6" AS "ppdm_t2_0_6",
      "s"."ppdm_t2_0_7" AS "ppdm_t2_0_7",
      CASE
        WHEN (
          "s"."ppdm_t1_0_0" - CAST('0.5' AS DOUBLE)
        ) < -CAST('0.425' AS DOUBLE)
        THEN SQRT(-LN("s"."ppdm_t1_0_0"))
        WHEN (
          "s"."ppdm_t1_0_0" - CAST('0.5' AS DOUBLE)
        ) > CAST('0.425' AS DOUBLE)
        THEN SQRT(-LN(CAST('1.0' AS DOUBLE) - "s"."ppdm_t1_0_0"))
      END AS "ppdm_t1_0_1",
      CAST('0.180625' AS DOUBLE) - (
        "s"."ppdm_t1_0_0" - CAST('0.5' AS DOUBLE)
      ) * (
        "s"."ppdm_t1_0_0" - CAST('0.5' AS DOUBLE)
      ) AS "ppdm_t1_0_2"
    FROM (
      SELECT
        "s"."weight" AS "weight",
        "s"."income" AS "income",
        "s"."id" AS "id",
        ppdm_drawn("p"."t1_0_key_high_0", "p"."t1_0_key_low_0", CAST("s"."id" AS BIGINT)) AS "ppdm_t1_0_0",
        ppdm_drawn("p"."t2_0_key_high_0", "p"."t2_0_key_low_0", CAST("s"."id" AS BIGINT)) AS "ppdm_t2_0_6",
        ppdm_selected("p"."t2_0_selection", CAST("s"."id" AS BIGINT), "p"."t2_0_rho") AS "ppdm_t2_0_7"
      FROM "clinic"."people" AS "s"
      CROSS JOIN "ppdm_owner"."r1_v1_parameters" AS "p"
    ) AS "s"
  ) AS "s"
) AS "s"
CROSS JOIN "ppdm_owner"."r1_v1_parameters" AS "p"
