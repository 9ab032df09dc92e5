INTERPRET RELEASE research.people VERSION two WHERE age > 40
