import json
from collections.abc import Callable, Iterator
from typing import Any

import django
import pytest

# Models may be imported only after this, and pytest imports this file first.
django.setup()

from django.contrib.auth.models import User  # noqa: E402
from django.core.cache import cache  # noqa: E402
from django.db import connection  # noqa: E402
from django.test import Client  # noqa: E402

from builder.access.actions import make_token  # noqa: E402
from builder.access.append_only import put_up_guard, take_down_guard  # noqa: E402
from builder.access.models import Grant  # noqa: E402
from builder.connections.models import Connection  # noqa: E402
from builder.pipelines.templates import templates  # noqa: E402


class Api:
    """A program that talks to the API as one user."""

    def __init__(self, user: User | None) -> None:
        self.user = user
        self.client = Client(raise_request_exception=True)
        self.headers: dict[str, str] = {}
        if user is not None:
            self.headers["Authorization"] = f"Bearer {make_token(user, 'test')[1]}"

    def call(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        """Answer the response; a body that is not bytes is sent as JSON."""
        data = (
            body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        )
        kind = headers.pop("content_type", "application/json")
        return self.client.generic(
            method, f"/api{path}", data, content_type=kind, headers={**self.headers, **headers}
        )

    def get(self, path: str, status: int = 200) -> Any:
        return self._json(self.call("GET", path), status)

    def post(self, path: str, body: Any = None, status: int = 200, **headers: str) -> Any:
        return self._json(self.call("POST", path, body, **headers), status)

    def put(self, path: str, body: Any, status: int = 200) -> Any:
        return self._json(self.call("PUT", path, body), status)

    def delete(self, path: str, status: int = 204) -> Any:
        return self._json(self.call("DELETE", path), status)

    @staticmethod
    def _json(response: Any, status: int) -> Any:
        assert response.status_code == status, response.content.decode()[:2000]
        if status >= 400:
            assert response.headers["Content-Type"] == "application/problem+json"
            assert response.json()["status"] == status
            assert response.json()["detail"]
        return response.json() if response.content else None


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real Kafka; answers its address."""
    from builder.local.kafka import start_kafka

    server = start_kafka(tmp_path_factory.mktemp("kafka"))
    yield server.url
    server.process.terminate()
    server.process.wait(timeout=30)


@pytest.fixture(autouse=True)
def _redis(redis_server: str, db: None) -> None:
    cache.clear()


@pytest.fixture(autouse=True)
def _quick_passwords(settings: Any) -> None:
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture(autouse=True)
def _guarded_activity(db: None) -> Iterator[None]:
    """Django empties all tables after a test with transactions, which activity would refuse."""
    put_up_guard(connection)
    yield
    if not connection.in_atomic_block:
        take_down_guard(connection)


def user_with(name: str, *roles: str, **place: Any) -> User:
    """A user with these roles: on everything, or on `folder` or `pipeline`."""
    user = User.objects.create_user(name, password="a long password")
    Grant.objects.bulk_create(Grant(role=role, user=user, **place) for role in roles)
    return user


@pytest.fixture
def admin() -> User:
    return User.objects.create_superuser("ada", password="a long password")


@pytest.fixture
def viewer() -> User:
    return user_with("vic", "viewer")


@pytest.fixture
def editor() -> User:
    """One who may draw pipelines, and neither deploy them nor touch connections."""
    return user_with("eve", "editor")


@pytest.fixture
def api(admin: User) -> Api:
    return Api(admin)


@pytest.fixture
def as_user() -> Callable[[User | None], Api]:
    return Api


@pytest.fixture
def local() -> Connection:
    """A connection to where no broker is."""
    return Connection.objects.create(name="local", bootstrap_servers="127.0.0.1:1")


@pytest.fixture
def word_count() -> dict[str, Any]:
    return json.loads(json.dumps(templates()["word-count"]["graph"]))
