import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ApiError } from "../api/session";
import { createAutosave } from "./autosave";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const draft = (graph: string) => ({ name: "n", graph });

test("several changes in a moment are saved once, as the last one", async () => {
  const save = vi.fn(async (_: unknown, revision: number) => revision + 1);
  const autosave = createAutosave<string>(4, save);
  autosave.changed(draft("a"));
  autosave.changed(draft("b"));
  expect(autosave.state.getState().status).toBe("unsaved");
  await vi.runAllTimersAsync();
  expect(save.mock.calls).toEqual([[draft("b"), 4]]);
  expect(autosave.state.getState().status).toBe("saved");
});

test("a change while saving is saved after it, from the new revision", async () => {
  const save = vi.fn(async (_: unknown, revision: number) => {
    await new Promise((done) => setTimeout(done, 50));
    return revision + 1;
  });
  const autosave = createAutosave<string>(1, save);
  autosave.changed(draft("a"));
  const flushed = autosave.flush();
  autosave.changed(draft("b"));
  await vi.runAllTimersAsync();
  expect(await flushed).toBe(true);
  expect(save.mock.calls).toEqual([
    [draft("a"), 1],
    [draft("b"), 2],
  ]);
});

function conflicting() {
  const save = vi.fn(async (_: unknown, revision: number) => {
    if (revision === 1)
      throw new ApiError(
        409,
        { revision: 7, name: "theirs", graph: "t" as never },
        "Somebody saved.",
      );
    return revision + 1;
  });
  return { save, autosave: createAutosave<string>(1, save) };
}

test("a conflict saves nothing until somebody chooses", async () => {
  const { save, autosave } = conflicting();
  autosave.changed(draft("mine"));
  await vi.runAllTimersAsync();
  expect(autosave.state.getState()).toMatchObject({ status: "conflict", theirs: { graph: "t" } });
  autosave.changed(draft("mine 2"));
  await vi.runAllTimersAsync();
  expect(save).toHaveBeenCalledTimes(1);
});

test("keep mine saves over theirs", async () => {
  const { save, autosave } = conflicting();
  autosave.changed(draft("mine"));
  await vi.runAllTimersAsync();
  await autosave.keepMine();
  expect(save).toHaveBeenLastCalledWith(draft("mine"), 7);
  expect(autosave.state.getState().status).toBe("saved");
});

test("take theirs answers it and saves nothing", async () => {
  const { save, autosave } = conflicting();
  autosave.changed(draft("mine"));
  await vi.runAllTimersAsync();
  expect(autosave.takeTheirs()).toEqual({ name: "theirs", graph: "t", revision: 7 });
  await vi.runAllTimersAsync();
  expect(save).toHaveBeenCalledTimes(1);
});

test("a server that is away is tried again", async () => {
  let away = true;
  const save = vi.fn(async (_: unknown, revision: number) => {
    if (away) throw new ApiError(0, {}, "away");
    return revision + 1;
  });
  const autosave = createAutosave<string>(1, save);
  autosave.changed(draft("a"));
  await vi.advanceTimersByTimeAsync(1_000);
  expect(autosave.state.getState().status).toBe("failed");
  away = false;
  await vi.advanceTimersByTimeAsync(6_000);
  expect(autosave.state.getState().status).toBe("saved");
});

test("what the server refuses is not sent again by itself", async () => {
  const save = vi.fn(async () => {
    throw new ApiError(422, {}, "no");
  });
  const autosave = createAutosave<string>(1, save);
  autosave.changed(draft("a"));
  await vi.advanceTimersByTimeAsync(60_000);
  expect(save).toHaveBeenCalledTimes(1);
});
