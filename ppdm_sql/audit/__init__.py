"""What a release protects, what it costs, and what an attacker gets: numbers first.

    run, arguments   AUDIT RELEASE, from the statement to the report
    assembly         every measure and every attack, once
    read/            released rows beside their originals, backgrounds, earlier versions
    measure/         risk, diversity, breaches, singling out, utility: arrays in, figures out
    attacks/         one attack a file, listed in ATTACKS; models and scoring are what they share
    report/          verdict, page, JSON, tables, and what of it others may see

`measure` and `attacks` take arrays, never a connection. What a report holds is counts, shares and
names of columns: no value of the data and no parameter of a treatment.
"""
