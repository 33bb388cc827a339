import { Button } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useEffect, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { useCanvas, useCheck } from "../canvas/CanvasContext";
import { useGraph, useGraphStore } from "../canvas/graphStore";
import { say } from "../shell/say";
import { changedPart } from "./changedPart";
import { followRenames, namesIn, type Rename, settled } from "./followRenames";
import styles from "./RenameNotice.module.css";
import { type Change, type KnownNames, renameColumn } from "./renameColumn";

// Long enough that nobody is interrupted while typing a name.
const DEBOUNCE_MS = 400;

/** Offers to take a renamed column's new name over wherever its rows are read. */
export function RenameNotice() {
  const { t } = useTranslation();
  const { catalogue } = useCanvas();
  const store = useGraphStore();
  const graph = useGraph((g) => g);
  const steps = useCheck((s) => s.steps);
  const [names, setNames] = useState(() => namesIn(graph));
  const [rested] = useDebouncedValue(graph, DEBOUNCE_MS);
  const known: KnownNames = (id) => steps[id]?.columns.map(({ name }) => name);
  const followed = useMemo(() => followRenames(names, rested), [names, rested]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `known` says what `steps` says
  const offers = useMemo(
    () =>
      followed.renames
        .map((rename) => ({ rename, ...renameColumn(rested, catalogue, known, rename) }))
        .filter(({ changes, byHand }) => changes.length + byHand.length > 0),
    [followed, rested, catalogue, steps],
  );
  const quiet = followed.renames.filter(
    (rename) => !offers.some((offer) => offer.rename === rename),
  );
  const next = quiet.reduce(settled, followed.names);
  const said = JSON.stringify([...next]);
  useEffect(() => setNames(new Map(JSON.parse(said))), [said]);
  const [offer] = offers;

  function take({ rename, changes }: { rename: Rename; changes: Change[] }) {
    store.change((now) => renameColumn(now, catalogue, known, rename).graph);
    setNames((before) => settled(before, rename));
    say(t("rename.done", { ...rename, count: changes.length }));
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
          onLeave={() => setNames((before) => settled(before, offer.rename))}
        />
      )}
    </div>
  );
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
