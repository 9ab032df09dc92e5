REFRESH RELEASE research.people
