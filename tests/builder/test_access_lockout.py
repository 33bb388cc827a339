"""Guessing passwords comes to an end."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.utils import timezone

from builder.access.models import Activity, LoginAttempt

PASSWORD = "a long password"


def log_in(name: str, password: str, address: str = "127.0.0.1", path: str = "login") -> Any:
    return Client().post(
        f"/api/{path}", {"username": name, "password": password}, content_type="application/json",
        REMOTE_ADDR=address,
    )  # fmt: skip


def guess(times: int, **more: Any) -> list[int]:
    return [log_in("ada", f"wrong {n}", **more).status_code for n in range(times)]


def test_ten_wrong_passwords_lock_a_user_name(admin: User) -> None:
    """Guessing locks, from wherever and however the name is written; the right one is refused."""
    assert guess(5, address="10.0.0.1") + guess(5, address="10.0.0.2") == [401] * 10
    for name, password, path in (
        ("ada", "wrong", "login"),
        ("ada", PASSWORD, "login"),
        ("ADA", PASSWORD, "login"),
        ("ada", PASSWORD, "tokens"),
    ):
        answer = log_in(name, password, "10.0.0.3", path)
        assert answer.status_code == 429
        assert answer.headers["Content-Type"] == "application/problem+json"
        assert 590 < int(answer.headers["Retry-After"]) <= 600
        assert "10 minutes" in answer.json()["detail"]
    assert log_in("other", "wrong", "10.0.0.3").status_code == 401, "others are let try"
    (line,) = Activity.objects.filter(verb="lock_out")
    assert (line.user, line.address) == (None, "10.0.0.2")
    assert "the user name ada" in line.message


def test_fifty_from_an_address_lock_it(admin: User) -> None:
    found = [log_in(f"user{n % 25}", "wrong", "10.0.0.1").status_code for n in range(50)]
    assert found == [401] * 50
    assert log_in("ada", PASSWORD, "10.0.0.1").status_code == 429
    assert log_in("ada", PASSWORD, "10.0.0.2").status_code == 200
    (line,) = Activity.objects.filter(verb="lock_out")
    assert "10.0.0.1" in line.message


def test_it_ends_by_itself_and_what_is_refused_does_not_prolong_it(admin: User) -> None:
    guess(10)
    assert log_in("ada", "wrong").status_code == 429
    ago = timezone.now() - timedelta(minutes=9, seconds=30)
    LoginAttempt.objects.update(at=ago)
    assert 20 < int(log_in("ada", PASSWORD).headers["Retry-After"]) <= 30
    LoginAttempt.objects.update(at=ago - timedelta(seconds=31))
    assert log_in("ada", PASSWORD).status_code == 200
    assert not LoginAttempt.objects.exists(), "what is too old is forgotten"


def test_right_passwords_are_not_counted(admin: User) -> None:
    assert [log_in("ada", PASSWORD).status_code for _ in range(12)] == [200] * 12
    assert guess(9) == [401] * 9
    assert log_in("ada", PASSWORD).status_code == 200


def test_the_admin_has_the_same_lock(admin: User) -> None:
    guess(10)
    page = Client()
    answer = page.post("/admin/login/", {"username": "ada", "password": PASSWORD})
    assert "Too many wrong passwords" in answer.content.decode()
    assert answer.status_code == 429
    assert 590 < int(answer.headers["Retry-After"]) <= 600
    assert "_auth_user_id" not in page.session
    LoginAttempt.objects.all().delete()
    wrong = page.post("/admin/login/", {"username": "ada", "password": "wrong"})
    assert "password is another" in wrong.content.decode()
    assert LoginAttempt.objects.count() == 1
    page.post("/admin/login/", {"username": "ada", "password": PASSWORD})
    assert "_auth_user_id" in page.session


@pytest.mark.django_db(transaction=True)
def test_many_at_once_are_not_let_through(admin: User) -> None:
    def attempt(number: int) -> int:
        try:
            return int(log_in("ada", f"wrong {number}").status_code)
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(attempt, range(40)))
    assert set(found) <= {401, 429}
    assert 1 <= found.count(401) <= 10
    assert log_in("ada", PASSWORD).status_code == 429


def test_a_user_who_is_not_there_is_told_the_same(as_user: Callable[..., Any]) -> None:
    found = [log_in("nobody", "wrong").status_code for _ in range(11)]
    assert found == [401] * 10 + [429]
