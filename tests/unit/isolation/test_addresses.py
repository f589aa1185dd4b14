"""Addresses that a request may go to (SPEC A-49)."""

import pytest

from counterpoint.isolation.addresses import address_fault, host_of, is_loopback


@pytest.mark.parametrize(
    ("url", "fault"),
    [
        ("https://models.example.com", ""),
        ("https://models.example.com:8443/v1", ""),
        ("http://127.0.0.1:8080/v1", ""),
        ("http://127.8.9.1", ""),
        ("http://[::1]:1", ""),
        ("http://localhost", ""),
        ("http://models.example.com", "neither https nor http to this machine"),
        ("http://127.0.0.1.example.com", "neither https nor http to this machine"),
        ("http://localhost.example.com", "neither https nor http to this machine"),
        ("http://0.0.0.0", "neither https nor http to this machine"),
        ("ftp://127.0.0.1", "neither https nor http to this machine"),
        ("https://ana@models.example.com", "a login"),
        ("https://:secret@models.example.com", "a login"),
        ("http://127.0.0.1@models.example.com", "a login"),
        ("https://models.example.com?", "a query or a fragment"),
        ("https://models.example.com/#v1", "a query or a fragment"),
        ("https://models.example.com:0x10", "no port from 1 to 65535"),
        ("https://models.example.com:70000", "no port from 1 to 65535"),
        ("https://[::1", "no host"),
        ("https://", "no host"),
        ("models.example.com", "no host"),
        ("", "no host"),
        ("https://models.example.com/ v1", "white space"),
        ("https://models.example.com/\x1b[31m", "white space"),
    ],
)
def test_an_address_is_https_or_of_this_machine_and_hides_nothing(url: str, fault: str) -> None:
    """A-49, each way that an address can carry more than a place."""
    assert address_fault(url) == fault


def test_the_host_of_an_address_is_what_a_person_consents_to() -> None:
    """Ours: lower case, without a port."""
    assert host_of("https://Models.Example.com:8443/v1") == "models.example.com"
    assert not is_loopback("https://models.example.com")
