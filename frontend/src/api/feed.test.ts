import { expect, test } from "vitest";
import { EMPTY_FEED, type Feed, type Message, receive } from "./feed";

type Snapshot = { total: number };
type Event = { add: number };

function run(messages: Message<Snapshot, Event>[]) {
  let feed: Feed<number> = EMPTY_FEED;
  const asks: boolean[] = [];
  for (const message of messages) {
    const next = receive(
      feed,
      message,
      (s: Snapshot) => s.total,
      (total, e: Event) => total + e.add,
    );
    feed = next.feed;
    asks.push(next.ask);
  }
  return { feed, asks };
}

const snapshot = (seq: number, total: number) => ({ type: "snapshot", seq, total }) as const;
const event = (seq: number, add: number) => ({ type: "event", seq, event: { add } }) as const;

test("events in order are applied to the snapshot", () => {
  const { feed, asks } = run([snapshot(7, 100), event(8, 1), event(9, 2)]);
  expect(feed).toEqual({ state: 103, seq: 9, asked: false });
  expect(asks).toEqual([false, false, false]);
});

test("an event that the snapshot already holds is left aside", () => {
  expect(run([snapshot(7, 100), event(6, 50), event(7, 50), event(8, 1)]).feed.state).toBe(101);
});

test("a gap asks once for a new snapshot and applies nothing until it is there", () => {
  const { feed, asks } = run([snapshot(1, 10), event(3, 5), event(4, 5), event(5, 5)]);
  expect(asks).toEqual([false, true, false, false]);
  expect(feed.state).toBe(10);
});

test("an event that changes more than it tells is applied, and asks for a snapshot", () => {
  const first = { state: 10, seq: 1, asked: false };
  const renews = (e: Event) => e.add === 5;
  const add = (total: number, e: Event) => total + e.add;
  const five = receive(first, event(2, 5), (s: Snapshot) => s.total, add, renews);
  expect(five).toEqual({ feed: { state: 15, seq: 2, asked: false }, ask: true });
  const six = receive(five.feed, event(3, 6), (s: Snapshot) => s.total, add, renews);
  expect(six).toEqual({ feed: { state: 21, seq: 3, asked: false }, ask: false });
});

test("after the new snapshot events count again", () => {
  const { feed } = run([snapshot(1, 10), event(3, 5), snapshot(5, 25), event(6, 1)]);
  expect(feed).toEqual({ state: 26, seq: 6, asked: false });
});

test("a restarted server that counts from the beginning is believed", () => {
  expect(run([snapshot(900, 1), snapshot(2, 7), event(3, 1)]).feed.state).toBe(8);
});

test("events before the first snapshot are left aside", () => {
  expect(run([event(1, 5), snapshot(1, 5)]).feed.state).toBe(5);
});
