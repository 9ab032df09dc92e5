"""`python -m ppdm_sql` is the command line."""

from ppdm_sql.cli import main

if __name__ == "__main__":
    main()
