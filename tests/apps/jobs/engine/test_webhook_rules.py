"""Signatures, waits and addresses of outgoing webhooks."""

from __future__ import annotations

import base64
import hashlib
import hmac
import ipaddress

import pytest

from apps.jobs.engine import addresses, retries, signing

NOTHING = addresses.AllowList()


def test_a_signature_is_that_of_the_specification():
    """The example of the Standard Webhooks specification, computed by hand here."""
    key = base64.b64decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    body = '{"test": 2432232314}'
    signed = f"msg_p5jXN8AQM9LWM0D4loKWxJek.1614265330.{body}".encode()
    expected = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    assert expected == "g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
    headers = signing.headers(
        secrets=["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"],
        message_id="msg_p5jXN8AQM9LWM0D4loKWxJek",
        timestamp_s=1614265330,
        body=body,
    )
    assert headers["webhook-signature"] == f"v1,{expected}"


def test_two_secrets_give_two_signatures():
    secrets = [signing.secret_text(b"a" * 32), signing.secret_text(b"b" * 32)]
    headers = signing.headers(secrets=secrets, message_id="msg_1", timestamp_s=1, body="{}")
    assert len(headers["webhook-signature"].split(" ")) == 2


@pytest.mark.parametrize("secret", ["", "abc", "whsec_***"])
def test_a_secret_of_another_form_is_refused(secret):
    with pytest.raises(ValueError):
        signing.key_of(secret)


def test_a_message_is_tried_seven_times_and_then_given_up():
    assert [retries.wait_s(attempt) for attempt in range(1, 8)] == [5, 30, 300, 1800, 7200, 21600, None]


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "10.1.2.3",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "0.0.0.0",
        "192.0.0.8",
        "192.0.2.1",
        "198.18.0.1",
        "224.0.0.1",
        "240.0.0.1",
        "255.255.255.255",
        "168.63.129.16",
        "::",
        "::1",
        "fc00::1",
        "fe80::1",
        "ff02::1",
        "::ffff:127.0.0.1",
        "::ffff:10.0.0.1",
        "::127.0.0.1",
        "::ffff:0:7f00:1",
        "64:ff9b::a00:1",
        "64:ff9b:1::1",
        "2002:a00:1::1",
        "2001::1",
        "2001:db8::1",
        "fec0::1",
    ],
)
def test_addresses_that_are_not_public_are_never_called(address):
    assert not addresses.may_call(ipaddress.ip_address(address), host="ci.example.com", allowed=NOTHING)


@pytest.mark.parametrize("address", ["93.184.216.34", "8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8"])
def test_public_addresses_are_called(address):
    assert addresses.may_call(ipaddress.ip_address(address), host="ci.example.com", allowed=NOTHING)


def test_what_the_operator_allows_is_called_by_network_or_by_name():
    allowed = addresses.allow_list(["10.0.0.0/8", "ci.internal"])
    ten, other = ipaddress.ip_address("10.1.1.1"), ipaddress.ip_address("192.168.0.1")
    assert addresses.may_call(ten, host="a.example.com", allowed=allowed)
    assert addresses.may_call(ipaddress.ip_address("::ffff:10.1.1.1"), host="a", allowed=allowed)
    assert not addresses.may_call(other, host="a.example.com", allowed=allowed)
    assert addresses.may_call(other, host="CI.internal", allowed=allowed)


@pytest.mark.parametrize(("host", "is_named"), [("10.1.2.3", True), ("::1", True), ("10.9.9.9", False)])
def test_a_single_address_is_named_and_one_of_a_network_is_not(host, is_named):
    allowed = addresses.allow_list(["10.1.2.3", "::1", "10.9.0.0/16"])
    assert allowed.names(host) is is_named
    assert addresses.may_call(ipaddress.ip_address(host), host=host, allowed=allowed)


@pytest.mark.parametrize("entry", ["10.0.0.1/8", "a b", "", "http://x", "10.0.0.0/99", "-x"])
def test_an_odd_entry_of_the_allow_list_is_refused(entry):
    with pytest.raises(ValueError):
        addresses.allow_list([entry])


@pytest.mark.parametrize("host", ["ci.example.com", "prometheus", "10.0.0.1", "2606:4700::1111", "xn--p1ai"])
def test_a_host_is_a_name_or_an_address(host):
    assert addresses.is_host(host)


@pytest.mark.parametrize(
    "host",
    ["", "exa mple.com", "0177.0.0.1", "2130706433", "0x7f.1", "0x7f000001", "①②⑦.⓪.⓪.①", "a..b", "-a.com"],
)
def test_numbers_in_odd_notation_and_other_signs_are_no_host(host):
    assert not addresses.is_host(host)
