import { Alert, Button, Paper, Stack, TextInput, Title } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { useLocation, useNavigate } from "react-router";
import { getMe, login } from "../api/client";
import { afterLogin } from "../api/session";
import { Brand } from "../shell/Brand";
import { useTitle } from "../shell/useTitle";

export function LoginPage() {
  const { t } = useTranslation();
  const { search } = useLocation();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const [username, setUsername] = useState("");
  const [password, setPassword] = useState("");
  useTitle(t("login.title"));

  // Who is logged in already needs no form; the call also brings the CSRF cookie.
  useEffect(() => {
    getMe().then(
      () => navigate(afterLogin(search), { replace: true }),
      () => {},
    );
  }, [navigate, search]);

  const enter = useMutation({
    mutationFn: () => login({ body: { username, password } }),
    onSuccess: (me) => {
      queries.clear();
      queries.setQueryData(["me"], me);
      navigate(afterLogin(search), { replace: true });
    },
  });

  function submit(event: FormEvent) {
    event.preventDefault();
    enter.mutate();
  }

  return (
    <main style={{ display: "grid", placeContent: "center", minHeight: "100%", padding: 16 }}>
      <Paper withBorder p="xl" w={340} radius="lg">
        <form onSubmit={submit}>
          <Stack gap="md">
            <Brand />
            <Title order={1} size="h4">
              {t("login.title")}
            </Title>
            {enter.error && (
              <Alert color="red" role="alert">
                {enter.error.message}
              </Alert>
            )}
            <TextInput
              size="sm"
              label={t("login.username")}
              name="username"
              autoComplete="username"
              required
              autoFocus
              value={username}
              onChange={(event) => setUsername(event.currentTarget.value)}
            />
            <TextInput
              size="sm"
              type="password"
              label={t("login.password")}
              name="password"
              autoComplete="current-password"
              required
              value={password}
              onChange={(event) => setPassword(event.currentTarget.value)}
            />
            <Button type="submit" size="sm" loading={enter.isPending}>
              {t("login.enter")}
            </Button>
          </Stack>
        </form>
      </Paper>
    </main>
  );
}
