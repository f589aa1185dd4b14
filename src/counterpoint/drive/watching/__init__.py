"""Watching a mailbox: whoever's turn it is has its command run, once for each new doorbell (SPEC 3.5)."""
