import type { ErrorOut } from "./client";
import { client } from "./client/client.gen";

/** What the server, or the way to it, said no with; `message` is a sentence for people. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly answer: Partial<ErrorOut>,
    message: string,
  ) {
    super(message);
  }
}

const CHANGES = new Set(["POST", "PUT", "PATCH", "DELETE"]);
const LOGIN = "/login";

/**
 * Make every call carry the CSRF token and throw ApiError; `unreachable` is the sentence for when
 * no server answers. A call that needs a session where there is none leads to the login page and
 * from there back here.
 */
export function beginSession(unreachable: string): void {
  client.setConfig({ baseUrl: location.origin });
  client.interceptors.request.use((request) => {
    const token = cookie("csrftoken");
    if (token && CHANGES.has(request.method)) request.headers.set("X-CSRFToken", token);
    return request;
  });
  client.interceptors.error.use((error, response) => {
    if (error instanceof DOMException && error.name === "AbortError") return error;
    if (!response) return new ApiError(0, {}, unreachable);
    const answer = (typeof error === "object" && error !== null ? error : {}) as Partial<ErrorOut>;
    const asksForLogin = response.status === 401 && !location.pathname.startsWith(LOGIN);
    if (asksForLogin) location.assign(loginAddress());
    return new ApiError(
      response.status,
      answer,
      answer.detail ?? `${response.status} ${response.statusText}`,
    );
  });
}

/** The login page, which leads back to where one is now. */
export function loginAddress(): string {
  const here = location.pathname + location.search;
  return here === "/" ? LOGIN : `${LOGIN}?next=${encodeURIComponent(here)}`;
}

/** Where to go after logging in: an address of this application, never of another site. */
export function afterLogin(search: string): string {
  const next = new URLSearchParams(search).get("next") ?? "/";
  const target = new URL(next, location.origin);
  return target.origin === location.origin ? target.pathname + target.search : "/";
}

function cookie(name: string): string | undefined {
  const found = document.cookie.split("; ").find((part) => part.startsWith(`${name}=`));
  return found && decodeURIComponent(found.slice(name.length + 1));
}
