"""Metrics of office files: tables, documents, slides, PDFs, and the settings of LibreOffice.

The verdicts are the benchmark's, the code is ours. A file is opened through `guard`, as an agent may have put anything
there.
"""
