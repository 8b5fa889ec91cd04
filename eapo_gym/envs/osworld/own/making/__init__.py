"""The files that the tasks begin with and are judged by, made from nothing but the suite's dice."""
