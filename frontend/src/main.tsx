import { MantineProvider } from "@mantine/core";
import { Notifications } from "@mantine/notifications";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { lazy, StrictMode, Suspense } from "react";
import { createRoot } from "react-dom/client";
import { createBrowserRouter, RouterProvider } from "react-router";
import { ApiError, beginSession } from "./api/session";
import i18n from "./i18n/i18n";
import { LoginPage } from "./login/LoginPage";
import { PipelinesPage } from "./pipelines/PipelinesPage";
import { Broken } from "./shell/Broken";
import { Loading, Missing } from "./shell/Loading";
import { LoggedIn } from "./shell/LoggedIn";
import { theme } from "./shell/theme";
import "@mantine/core/styles.css";
import "@mantine/notifications/styles.css";
import "@mantine/spotlight/styles.css";
import "@fontsource-variable/inter/wght.css";
import "./shell/theme.css";

const EditorPage = lazy(async () => ({
  default: (await import("./editor/EditorPage")).EditorPage,
}));
const DeploymentPage = lazy(async () => ({
  default: (await import("./monitor/DeploymentPage")).DeploymentPage,
}));
const MonitorPage = lazy(async () => ({
  default: (await import("./monitor/MonitorPage")).MonitorPage,
}));
const ConnectionsPage = lazy(async () => ({
  default: (await import("./connections/ConnectionsPage")).ConnectionsPage,
}));
const TopicPage = lazy(async () => ({
  default: (await import("./topics/TopicPage")).TopicPage,
}));
const AlertsPage = lazy(async () => ({
  default: (await import("./alerts/AlertsPage")).AlertsPage,
}));
const EnvironmentsPage = lazy(async () => ({
  default: (await import("./environments/EnvironmentsPage")).EnvironmentsPage,
}));

beginSession(i18n.t("unreachable"));

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      // What the server refused it will refuse again; what got lost on the way is asked once more.
      retry: (tries, error) =>
        tries < 2 && error instanceof ApiError && (error.status === 0 || error.status >= 500),
    },
  },
});

const router = createBrowserRouter([
  { path: "/login", element: <LoginPage />, errorElement: <Broken /> },
  {
    errorElement: <Broken />,
    element: <LoggedIn />,
    children: [
      { path: "/", element: <PipelinesPage /> },
      { path: "/pipelines/:id", element: <EditorPage /> },
      { path: "/deployments/:id", element: <DeploymentPage /> },
      { path: "/monitor", element: <MonitorPage /> },
      { path: "/connections", element: <ConnectionsPage /> },
      { path: "/connections/:id/topics/:topic", element: <TopicPage /> },
      { path: "/environments", element: <EnvironmentsPage /> },
      { path: "/settings/alerts", element: <AlertsPage /> },
      { path: "*", element: <Missing message={i18n.t("missing.page")} /> },
    ],
  },
]);

const root = document.getElementById("root");
if (root === null) throw new Error("index.html has no #root.");
createRoot(root).render(
  <StrictMode>
    <MantineProvider theme={theme} defaultColorScheme="auto">
      <Notifications position="bottom-right" />
      <QueryClientProvider client={queries}>
        <Suspense fallback={<Loading />}>
          <RouterProvider router={router} />
        </Suspense>
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
