"""Asks a Kafka cluster about itself, and tells a refused login from brokers that are away."""

import re
import time
from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient, ClusterMetadata

_REFUSED = (
    KafkaError._AUTHENTICATION,
    KafkaError.SASL_AUTHENTICATION_FAILED,
    KafkaError.TOPIC_AUTHORIZATION_FAILED,
    KafkaError.CLUSTER_AUTHORIZATION_FAILED,
)
# What TLS calls the other side's word on our certificate, or on that we have none.
_CERTIFICATE_REFUSED = re.compile(r"SSL alert number (4[1-9]|116)\b")
# How long one question may take before we look whether the brokers have refused us meanwhile.
_SLICE = 1.0


class LoginRefused(Exception):
    """The brokers don't accept who we say we are; asking again can't help."""


class NotTrusted(Exception):
    """There is no TLS with the brokers; the message has the reason."""


class Admin(AdminClient):
    """A client for the moment in which something is asked."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        """`settings` are those of `client_options`, and what else the client is to know."""
        self._heard: deque[KafkaError] = deque(maxlen=20)
        conf: dict[str, Any] = {**settings, "error_cb": self._heard.append}
        super().__init__(conf)

    def metadata(self, seconds: float) -> ClusterMetadata:
        """Brokers and topics.

        Raises LoginRefused or NotTrusted as soon as that is so, else KafkaException where
        nobody answers in time.
        """
        deadline = time.monotonic() + seconds
        while True:
            left = deadline - time.monotonic()
            try:
                return self.list_topics(timeout=min(_SLICE, max(left, 0.1)))
            except KafkaException as error:
                self.poll(0)
                self._judge([error.args[0], *self._heard])
                if left <= _SLICE:
                    raise

    def _judge(self, heard: Iterable[KafkaError]) -> None:
        for error in heard:
            if error.code() in _REFUSED:
                raise LoginRefused(reason(error)) from None
            if _CERTIFICATE_REFUSED.search(error.str()):
                message = (
                    "Our certificate is not accepted, or there is none where one is asked for."
                )
                raise LoginRefused(message) from None
        for error in heard:
            if error.code() == KafkaError._SSL or "SSL handshake failed" in error.str():
                raise NotTrusted(reason(error)) from None


def reason(error: KafkaError) -> str:
    """What a client says of its trouble, without the address and how long it took."""
    text = re.sub(r"^\w+://\S+: ", "", error.str())
    text = re.sub(r"\s*\(after [^)]*\)", "", text)
    # OpenSSL says which line of its own found out.
    text = re.sub(r"\berror:[0-9A-F]+:[^:]*:[^:]*:", "", text)
    # Advice on settings that nobody has here.
    text = re.sub(r", verify that ssl\.ca\.location.*", "", text)
    text = " ".join(text.split()).rstrip(".: ")
    return f"{text}."
