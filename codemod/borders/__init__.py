"""Checks of untrusted input, and quoting of text for other programs.

Files of trees (`files`), documents that anybody may have written (`documents`), folders that must be the user's alone
(`private`), and text on its way into Markdown, commits, logs, tables and names (`quoting`).
"""
