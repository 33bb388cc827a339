import { Button, Tooltip } from "@mantine/core";
import { IconBolt, IconCopy, IconStack2 } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { getPlan } from "../api/client";
import { useCanvas, useCheck } from "../canvas/CanvasContext";
import { meaning } from "../canvas/editGraph";
import { useGraph } from "../canvas/graphStore";
import { say, sayError } from "../shell/say";
import styles from "./Drawer.module.css";
import { type Planned, topicsOf } from "./topicsOf";
import type { Editing } from "./useEditing";

interface Props {
  pipeline: string;
  /** Save what is drawn, for the plan is made of what is saved; whether that went well. */
  save: () => Promise<boolean>;
  editing: Editing;
}

/** What the drawing runs as: its segments, why each has its mode, and the topics between them. */
export function PlanTab({ pipeline, save, editing }: Props) {
  const { t } = useTranslation();
  const said = useGraph((graph) => JSON.stringify(meaning(graph)));
  const sound = useCheck((s) => !s.checking && !s.problems.some((p) => p.severity === "error"));
  const plan = useQuery({
    queryKey: ["plan", pipeline, said],
    queryFn: async ({ signal }) => {
      if (!(await save())) throw new Error(t("plan.notSaved"));
      return (await getPlan({ path: { pipeline_id: pipeline }, signal })) as Planned;
    },
    enabled: sound,
    // How many slots it needs changes with the partitions of its topics.
    staleTime: 5_000,
    gcTime: 60_000,
    retry: false,
  });
  if (!plan.data)
    return (
      <p className={styles.nothing}>
        {plan.error ? plan.error.message : sound ? t("plan.planning") : t("plan.unsound")}
      </p>
    );

  async function copy() {
    try {
      const query = { format: "text" } as const;
      const text = await getPlan({ path: { pipeline_id: pipeline }, query });
      await navigator.clipboard.writeText(text as unknown as string);
      say(t("plan.copied"));
    } catch (error) {
      sayError(error);
    }
  }

  return (
    <div className={styles.plan} data-testid="plan">
      <div className={styles.tools}>
        <Button
          variant="default"
          size="compact-xs"
          leftSection={<IconCopy size={13} aria-hidden />}
          onClick={() => void copy()}
        >
          {t("plan.copy")}
        </Button>
      </div>
      <ol className={styles.segments}>
        {plan.data.segments.map((segment) => (
          <Segment key={segment.id} plan={plan.data} segment={segment} editing={editing} />
        ))}
      </ol>
    </div>
  );
}

interface SegmentProps {
  plan: Planned;
  segment: Planned["segments"][number];
  editing: Editing;
}

function Segment({ plan, segment, editing }: SegmentProps) {
  const { t } = useTranslation();
  const { catalogue } = useCanvas();
  const drawn = useGraph((graph) => graph.steps);
  const Icon = segment.mode === "real_time" ? IconBolt : IconStack2;
  const facts = [
    ...topicsOf(plan, segment).map(
      ({ use, topics }) => [t(`plan.${use}`), topics.join(", ")] as const,
    ),
    [t("plan.checkpoint"), segment.checkpoint],
    [t("plan.slots"), segment.mode === "real_time" ? String(segment.slots ?? "") : ""],
  ].filter(([, value]) => value);
  return (
    <li className={styles.segment} data-segment-plan={segment.id}>
      <h3>
        <span className={styles.mode} data-mode={segment.mode}>
          <Icon size={13} stroke={2} aria-hidden />
          {t(`mode.${segment.mode}`)}
        </span>
        <span className="mono">{segment.id}</span>
      </h3>
      <p>{segment.reason}</p>
      <div className={styles.chain}>
        {segment.steps.map((id) => {
          const step = drawn.find((s) => s.id === id);
          // The ends of topics between segments are no steps that anybody drew.
          if (!step) return null;
          const title = catalogue.get(step.type)?.title ?? step.type;
          return (
            <Tooltip key={id} label={step.label ? title : id}>
              <button type="button" onClick={() => editing.show(id)}>
                {step.label || title}
              </button>
            </Tooltip>
          );
        })}
      </div>
      <dl>
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {segment.loads && <p>{t("plan.loads")}</p>}
    </li>
  );
}
