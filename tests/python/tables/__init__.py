"""One table, one answer: random tables, written in every format, and questions that an exact model judges."""
