/** What a websocket of deployments says: the present state, then each change of it, numbered. */
export type Message<Snapshot, Event> =
  | ({ type: "snapshot"; seq: number } & Snapshot)
  | { type: "event"; seq: number; event: Event };

export interface Feed<State> {
  state: State | null;
  seq: number;
  /** True from the moment a number was missing until the snapshot that was asked for is there. */
  asked: boolean;
}

export const EMPTY_FEED = { state: null, seq: 0, asked: false };

/**
 * Take in one message. `ask` says that a new snapshot must be asked for: events are missing, and
 * until it arrives further ones are left aside, since they can't be applied to a state with a
 * hole; or `renews` says of an event, and the state it comes to, that more has changed than it
 * tells.
 */
export function receive<State, Snapshot, Event>(
  feed: Feed<State>,
  message: Message<Snapshot, Event>,
  read: (snapshot: Snapshot) => State,
  apply: (state: State, event: Event) => State,
  renews: (event: Event, state: State) => boolean = () => false,
): { feed: Feed<State>; ask: boolean } {
  if (message.type === "snapshot") {
    return { feed: { state: read(message), seq: message.seq, asked: false }, ask: false };
  }
  if (feed.state === null || feed.asked) return { feed, ask: false };
  if (message.seq <= feed.seq) return { feed, ask: false };
  if (message.seq > feed.seq + 1) return { feed: { ...feed, asked: true }, ask: true };
  return {
    feed: { state: apply(feed.state, message.event), seq: message.seq, asked: false },
    ask: renews(message.event, feed.state),
  };
}
