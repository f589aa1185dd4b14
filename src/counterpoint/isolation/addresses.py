"""Which addresses a request may go to: HTTPS anywhere, HTTP on this machine, nothing hidden in either (SPEC A-49)."""

import ipaddress
from urllib.parse import SplitResult, urlsplit

__all__ = ["address_fault", "host_of", "is_loopback"]


def address_fault(url: str) -> str:
    """Say what is wrong with a base address; "" for nothing."""
    if any(character.isspace() or not character.isprintable() for character in url):
        return "white space"
    try:
        parts = urlsplit(url)
    except ValueError:
        return "no host"
    return _parts_fault(parts, url)


def _parts_fault(parts: SplitResult, url: str) -> str:
    if not parts.hostname:
        return "no host"
    try:
        _ = parts.port
    except ValueError:
        return "no port from 1 to 65535"
    if parts.username is not None or parts.password is not None:
        return "a login"
    if "?" in url or "#" in url:
        return "a query or a fragment"
    if parts.scheme != "https" and not (parts.scheme == "http" and is_loopback(url)):
        return "neither https nor http to this machine"
    return ""


def is_loopback(url: str) -> bool:
    """Say whether an address is on this machine."""
    host = host_of(url)
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def host_of(url: str) -> str:
    """Return the host in an address, in lower case; "" where there is none."""
    return urlsplit(url).hostname or ""
