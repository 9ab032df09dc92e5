"""What a release protects, what it costs, and what an attacker gets: numbers first.

    subject      a release as arrays: released and original values of the same rows
    risk         classes, uniques, prosecutor, journalist and marketer risk
    diversity    l, t and alpha of sensitive columns
    breaches     proximity and divergence
    singling     which columns single people out
    scba         what a high class that alone is generalized gives away
    attacks/     one attack a file, listed in ATTACKS
    utility      what each column lost; shape, clustering, rules and classifiers what mining lost
    report       all of it as one value; document (JSON), tables (SQL) and page (HTML) show it

The room takes arrays, never a connection. What it returns holds counts, shares and names of
columns: no value of the data and no parameter of a treatment.
"""
