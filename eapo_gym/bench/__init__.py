"""Measuring: episodes, their statistics, and the page that shows one."""
