import { ActionIcon, Avatar, Menu } from "@mantine/core";
import { IconBell, IconBook2, IconLogout, IconSettings } from "@tabler/icons-react";
import { useQueryClient } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { Link, useNavigate } from "react-router";
import { logout } from "../api/client";
import { useMe } from "./useMe";

export function UserMenu() {
  const { t } = useTranslation();
  const { data: me } = useMe();
  const queries = useQueryClient();
  const navigate = useNavigate();

  async function leave() {
    await logout();
    queries.clear();
    navigate("/login");
  }

  return (
    <Menu position="bottom-end" width={210}>
      <Menu.Target>
        <ActionIcon radius="xl" size="lg" aria-label={t("user.menu")}>
          <Avatar size={26} name={me?.name} color="teal" />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {me && <Menu.Label>{t("user.loggedInAs", { name: me.name })}</Menu.Label>}
        <Menu.Item component={Link} to="/settings/alerts" leftSection={<IconBell size={15} />}>
          {t("user.alerts")}
        </Menu.Item>
        {me?.may.admin && (
          <Menu.Item component="a" href="/admin/" leftSection={<IconSettings size={15} />}>
            {t("user.admin")}
          </Menu.Item>
        )}
        <Menu.Item component="a" href="/api/docs" leftSection={<IconBook2 size={15} />}>
          {t("user.apiDocs")}
        </Menu.Item>
        <Menu.Divider />
        <Menu.Item leftSection={<IconLogout size={15} />} onClick={() => void leave()}>
          {t("user.logout")}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
