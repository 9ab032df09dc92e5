CREATE RELEASE research.people FROM clinic.people (id KEY, weight SENSITIVE AS noise(normal(0, 2)), income SENSITIVE AS noise(laplace(0, 5), rho => 50));
