"""Which of the choices that a paper leaves open bring its numbers out."""
