// @vitest-environment jsdom
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { keepRows, keptRows } from "./keepRows";
import {
  createRehearsalStore,
  renameSource,
  replaceRows,
  setRows,
  takeBack,
} from "./rehearsalStore";

beforeEach(() => vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  localStorage.clear();
});

test("rows are there again after the page was loaded again, each pipeline's its own", () => {
  const store = createRehearsalStore(keptRows("one"));
  keepRows(store, "one");
  setRows(store, "views", [{ a: 1 }]);
  vi.runAllTimers();
  expect(keptRows("one")).toEqual({ views: [{ a: 1 }] });
  expect(keptRows("two")).toEqual({});
});

test("what was changed last is kept when the page goes away at once", () => {
  const store = createRehearsalStore();
  keepRows(store, "one");
  setRows(store, "views", [{ a: 1 }]);
  window.dispatchEvent(new Event("pagehide"));
  expect(keptRows("one")).toEqual({ views: [{ a: 1 }] });
});

test("rows follow their source to its new name, and are gone when they are removed", () => {
  const store = createRehearsalStore({ views: [{ a: 1 }] });
  const stop = keepRows(store, "one");
  renameSource(store, "views", "clicks");
  stop();
  expect(keptRows("one")).toEqual({ clicks: [{ a: 1 }] });
  const again = keepRows(store, "one");
  setRows(store, "clicks", []);
  again();
  expect(localStorage.length).toBe(0);
});

test("rows whose place was taken come back, unless those that took it were changed", () => {
  const first = { views: [{ a: 1 }] };
  const store = createRehearsalStore(first);
  replaceRows(store, { views: [] });
  takeBack(store);
  expect(store.getState()).toMatchObject({ rows: first, before: null });
  replaceRows(store, { views: [{ a: 2 }] });
  setRows(store, "views", [{ a: 3 }]);
  takeBack(store);
  expect(store.getState().rows).toEqual({ views: [{ a: 3 }] });
});

test("where there were no rows, none can be brought back", () => {
  const store = createRehearsalStore({ views: [] });
  replaceRows(store, { views: [{ a: 1 }] });
  expect(store.getState().before).toBe(null);
});

test("where there is no room, that can be known, and the rows are still there to test with", () => {
  const full = { ...localStorage, getItem: () => null, removeItem: () => {} } as unknown as Storage;
  full.setItem = () => {
    throw new DOMException("full", "QuotaExceededError");
  };
  const store = createRehearsalStore();
  keepRows(store, "one", full);
  setRows(store, "views", [{ a: 1 }]);
  vi.runAllTimers();
  expect(store.getState()).toMatchObject({ kept: false, rows: { views: [{ a: 1 }] } });
});

test("something else under their name is no rows", () => {
  localStorage.setItem("headrace.rows.one", "{cut off");
  expect(keptRows("one")).toEqual({});
});
