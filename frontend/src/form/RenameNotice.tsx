import { Button } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useEffect, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import type { Graph } from "../api/graph";
import { useCanvas, useCheck } from "../canvas/CanvasContext";
import { useGraph, useGraphStore } from "../canvas/graphStore";
import { say } from "../shell/say";
import { changedPart } from "./changedPart";
import { followRenames, namesIn, type Rename, settled } from "./followRenames";
import styles from "./RenameNotice.module.css";
import { type Change, type KnownNames, renameColumn } from "./renameColumn";

// Long enough that nobody is interrupted while typing a name.
const DEBOUNCE_MS = 400;

/** A rename that was taken over; `before` is the graph it was seen in, until another is. */
interface Taken {
  rename: Rename;
  before: Graph | null;
}

/** Offers to take a renamed column's new name over wherever its rows are read. */
export function RenameNotice() {
  const { t } = useTranslation();
  const { catalogue } = useCanvas();
  const store = useGraphStore();
  const graph = useGraph((g) => g);
  const steps = useCheck((s) => s.steps);
  const [names, setNames] = useState(() => namesIn(graph));
  const [taken, setTaken] = useState<Taken[]>([]);
  const [rested] = useDebouncedValue(graph, DEBOUNCE_MS);
  const known: KnownNames = (id) => steps[id]?.columns.map(({ name }) => name);
  const followed = useMemo(() => followRenames(names, rested), [names, rested]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `known` says what `steps` says
  const offers = useMemo(
    () =>
      [...followed.renames, ...undone(taken, rested)]
        .map((rename) => ({ rename, ...renameColumn(rested, catalogue, known, rename) }))
        .filter(
          ({ rename, changes, byHand }) =>
            changes.length > 0 || (byHand.length > 0 && followed.renames.includes(rename)),
        ),
    [followed, taken, rested, catalogue, steps],
  );
  const quiet = followed.renames.filter(
    (rename) => !offers.some((offer) => offer.rename === rename),
  );
  const next = quiet.reduce(settled, followed.names);
  const said = JSON.stringify([...next]);
  useEffect(() => setNames(new Map(JSON.parse(said))), [said]);
  useEffect(() => setTaken((all) => all.map((one) => seen(one, rested))), [rested]);
  const [offer] = offers;

  function take({ rename, changes }: { rename: Rename; changes: Change[] }) {
    store.change((now) => renameColumn(now, catalogue, known, rename).graph);
    setNames((before) => settled(before, rename));
    setTaken((all) => [
      ...all.filter((other) => other.rename !== rename),
      { rename, before: rested },
    ]);
    say(t("rename.done", { ...rename, count: changes.length }));
  }

  function leave(rename: Rename) {
    setNames((before) => settled(before, rename));
    setTaken((all) => all.filter((other) => other.rename !== rename));
  }

  return (
    <div role="status">
      {offer && (
        <Offer
          key={`${offer.rename.step} ${offer.rename.from}`}
          rename={offer.rename}
          changes={offer.changes}
          byHand={offer.byHand}
          onTake={() => take(offer)}
          onLeave={() => leave(offer.rename)}
        />
      )}
    </div>
  );
}

function seen(taken: Taken, graph: Graph): Taken {
  return taken.before === null || taken.before === graph ? taken : { ...taken, before: null };
}

/** What was taken over and may have been undone since, but for the rename itself. */
function undone(taken: Taken[], graph: Graph): Rename[] {
  const names = namesIn(graph);
  return taken.flatMap(({ rename, before }) => {
    const now = names.get(rename.step) ?? [];
    const stands = now.includes(rename.to) && !now.includes(rename.from);
    return stands && before === null ? [rename] : [];
  });
}

interface OfferProps {
  rename: Rename;
  changes: Change[];
  byHand: string[];
  onTake: () => void;
  onLeave: () => void;
}

function Offer({ rename, changes, byHand, onTake, onLeave }: OfferProps) {
  const { t } = useTranslation();
  const { catalogue } = useCanvas();
  const steps = useGraph((graph) => graph.steps);
  const titleOf = (id: string) => {
    const step = steps.find((s) => s.id === id);
    return step?.label || catalogue.get(step?.type ?? "")?.title || id;
  };
  return (
    <section
      className={styles.notice}
      aria-label={t("rename.title", { step: titleOf(rename.step) })}
      data-testid="rename-notice"
    >
      <p>
        {changes.length > 0
          ? t("rename.explain", { ...rename, count: changes.length })
          : t("rename.renamed", { ...rename })}
      </p>
      {changes.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a list that scrolls must be reachable
        <ul aria-label={t("rename.places")} tabIndex={0}>
          {changes.map(({ step, field, before, after }) => (
            <li key={`${step} ${field}`}>
              <span>{titleOf(step)}</span>
              <ChangedText before={before} after={after} />
            </li>
          ))}
        </ul>
      )}
      {byHand.map((step) => (
        <p key={step} className={styles.byHand}>
          {t("rename.byHand", { ...rename, step: titleOf(step) })}
        </p>
      ))}
      <div className={styles.buttons}>
        {changes.length > 0 && (
          <Button size="compact-xs" onClick={onTake}>
            {t("rename.take")}
          </Button>
        )}
        <Button size="compact-xs" variant="default" onClick={onLeave}>
          {t(changes.length > 0 ? "rename.leave" : "rename.seen")}
        </Button>
      </div>
    </section>
  );
}

function ChangedText({ before, after }: { before: string; after: string }) {
  const { head, removed, added, tail } = changedPart(before, after);
  return (
    <span className={styles.change}>
      {head}
      <del>{removed}</del> <ins>{added}</ins>
      {tail}
    </span>
  );
}
