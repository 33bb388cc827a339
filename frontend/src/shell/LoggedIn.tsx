import { Alert } from "@mantine/core";
import { Outlet } from "react-router";
import { ApiError } from "../api/session";
import { Loading } from "./Loading";
import { useMe } from "./useMe";

/** Pages for those who are logged in; the session leads others to the login page. */
export function LoggedIn() {
  const { data: me, error } = useMe();
  if (me) return <Outlet />;
  if (error instanceof ApiError && error.status !== 401)
    return (
      <Alert color="red" m="xl" role="alert">
        {error.message}
      </Alert>
    );
  return <Loading />;
}
