"""The compiler and the job side of Headrace: graphs in, PySpark programs and running jobs out."""
