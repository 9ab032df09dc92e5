AUDIT RELEASE research.people TO 'nowhere/r.html';
