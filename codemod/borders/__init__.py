"""What comes in from anybody, and what goes out to other programs: each is checked here, once.

Files of trees (`files`), documents that anybody may have written (`documents`), folders that must be the user's alone
(`private`), and text on its way into Markdown, commits, logs, tables and names (`quoting`).
"""
