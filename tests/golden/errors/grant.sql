GRANT SELECT ON research.people TO bob;
