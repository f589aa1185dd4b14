"""The command line: one file per noun, no logic. Everything here is a call that an application can make."""
