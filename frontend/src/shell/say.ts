import { notifications } from "@mantine/notifications";

/** Tell what went wrong, as a sentence that stays long enough to be read. */
export function sayError(error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  notifications.show({ color: "red", message, autoClose: 10_000, role: "alert" });
}

export function say(message: string): void {
  notifications.show({ color: "teal", message, autoClose: 4_000, role: "status" });
}
