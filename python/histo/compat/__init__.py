"""The functions of other libraries, with their names and arguments, over histo: replace an import, keep the code."""
