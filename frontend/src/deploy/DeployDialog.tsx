import {
  Alert,
  Button,
  Group,
  List,
  Loader,
  Modal,
  SegmentedControl,
  Stack,
  Text,
  Textarea,
} from "@mantine/core";
import { IconAlertTriangle, IconBolt, IconStack2 } from "@tabler/icons-react";
import { useMutation, useQuery } from "@tanstack/react-query";
import { type ReactNode, useId, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { createDeployment, listDeployments } from "../api/client";
import type { Graph } from "../api/graph";
import { ApiError } from "../api/session";
import type { ChosenMode, Problem } from "../api/types";
import { meaning } from "../canvas/editGraph";
import { useProgram } from "../editor/useCheckedGraph";
import { ChooseEnvironment, DEFAULT_ENVIRONMENT } from "../environments/ChooseEnvironment";
import { DeployTests, useBeforeDeploy } from "../rehearsal/DeployTests";
import type { CaseRuns } from "../rehearsal/useCases";
import styles from "./Deploy.module.css";
import { FitReport, useFit } from "./FitReport";
import { forgets } from "./fates";
import { StartChoice, useStart } from "./StartChoice";
import { WAYS, type Way } from "./start";

const MODES = ["auto", "real_time", "micro_batch"] as const;
const STATES = ["keep", "fresh"] as const;
type State = (typeof STATES)[number];

interface Props {
  pipeline: string;
  graph: Graph;
  /** Which version to deploy; null freezes the draft as one. */
  version: number | null;
  /** Where it is deployed unless another place is chosen. */
  environment?: string;
  titleOf: (step: string) => string;
  runs: CaseRuns;
  /** Save the draft; false where that failed. */
  save: () => Promise<boolean>;
  onDeployed: (deployment: string) => void;
  onProblem: (problem: Problem) => void;
  onClose: () => void;
}

/** What to deploy, in which mode and from where; the reasons of the plan are shown. */
export function DeployDialog(props: Props) {
  const { pipeline, graph, version, titleOf, onDeployed, onProblem, onClose } = props;
  const tests = useBeforeDeploy(pipeline, props.runs);
  const { t } = useTranslation();
  const [comment, setComment] = useState("");
  const [chosenMode, setMode] = useState<ChosenMode | null>(null);
  const [state, setState] = useState<State>("keep");
  const said = useMemo(() => JSON.stringify(meaning(graph)), [graph]);
  const [environment, setEnvironment] = useState(props.environment ?? DEFAULT_ENVIRONMENT);
  const there = useDeployedIn(pipeline, environment);
  const mode = chosenMode ?? there.data?.mode ?? "auto";
  const plan = useProgram(said, !there.isPending, mode);
  const problems = problemsOf(plan.error);
  const save = async () => {
    if (!(await props.save())) throw new ApiError(0, {}, t("deploy.notSaved"));
  };
  const fit = useFit({
    deployment: there.data?.id,
    version,
    mode,
    said,
    enabled: plan.isSuccess,
    save,
  });
  const { start, ...choice } = useStart(graph, "steps");
  const asked = {
    pipeline,
    environment,
    mode,
    state: there.data ? state : ("keep" as const),
    start,
    ...(version === null ? { comment } : { version }),
  };

  // One key for this opening of the dialog: a second click asks for the same deployment.
  const [key] = useState(newKey);
  const deploy = useMutation({
    mutationFn: async () => {
      await save();
      return createDeployment({
        body: asked,
        headers: { "Idempotency-Key": `${key}-${hash(JSON.stringify(asked) + said)}` },
      });
    },
    onSuccess: ({ id }) => onDeployed(id),
  });
  const refused = [...problems, ...problemsOf(deploy.error)];

  return (
    <Modal
      opened
      onClose={onClose}
      title={version === null ? t("deploy.title") : t("deploy.titleVersion", { version })}
      size="lg"
    >
      <Stack gap="sm">
        {version === null && (
          <Textarea
            label={t("deploy.comment")}
            placeholder={t("deploy.commentPlaceholder")}
            value={comment}
            maxLength={500}
            autosize
            minRows={1}
            data-autofocus
            onChange={(event) => setComment(event.currentTarget.value)}
          />
        )}
        <ChooseEnvironment value={environment} onChange={setEnvironment} />
        <div>
          <Text size="xs" fw={500} id="deploy-mode">
            {t("deploy.mode")}
          </Text>
          <SegmentedControl
            aria-labelledby="deploy-mode"
            data={MODES.map((value) => ({ value, label: t(`mode.${value}`) }))}
            value={mode}
            onChange={(value) => setMode(value as ChosenMode)}
            mt={2}
          />
          <div aria-live="polite">
            {plan.isFetching && !plan.data && <Loader size="xs" type="dots" mt={8} />}
            {plan.data && (
              <List size="xs" mt={8} spacing={4} center listStyleType="none" data-testid="plan">
                {plan.data.segments.map((segment) => (
                  <List.Item
                    key={segment.id}
                    icon={
                      segment.mode === "real_time" ? (
                        <IconBolt size={15} color="var(--hr-accent)" aria-hidden />
                      ) : (
                        <IconStack2 size={15} color="var(--hr-soft)" aria-hidden />
                      )
                    }
                  >
                    <b>{t(`mode.${segment.mode as "auto"}`)}</b> ·{" "}
                    {segment.steps.map(titleOf).join(" → ")}
                    <Text size="xs" c="dimmed">
                      {segment.reason}
                    </Text>
                  </List.Item>
                ))}
              </List>
            )}
          </div>
        </div>
        {there.data && (
          <StateChoice state={state} onState={setState}>
            {plan.isSuccess && (
              <FitReport fit={fit.data} error={fit.error} fresh={state === "fresh"} />
            )}
            {fit.data && forgets(fit.data, state === "fresh") && (
              <Text size="xs" className={styles.warning} mt={6}>
                {t("fit.lost")}
              </Text>
            )}
          </StateChoice>
        )}
        <StartChoice
          {...choice}
          ways={WAYS}
          label={t("deploy.start")}
          help={t(helpOf(choice.chosen.way, there.data !== undefined, state))}
        />
        <DeployTests tests={tests} />
        {refused.length > 0 && (
          <Alert color="red" icon={<IconAlertTriangle size={17} />} title={t("deploy.problems")}>
            <List size="xs" spacing={2}>
              {refused.map((problem) => (
                <List.Item key={`${problem.step} ${problem.field} ${problem.message}`}>
                  <Button
                    variant="transparent"
                    color="red"
                    size="compact-xs"
                    onClick={() => onProblem(problem)}
                  >
                    {problem.step ? titleOf(problem.step) : t("drawer.pipeline")}
                  </Button>
                  {problem.message}
                </List.Item>
              ))}
            </List>
          </Alert>
        )}
        {[deploy.error, plan.error].map(
          (error) =>
            error &&
            problemsOf(error).length === 0 && (
              <Alert
                key={error.message}
                color="red"
                icon={<IconAlertTriangle size={17} />}
                role="alert"
              >
                {error.message}
              </Alert>
            ),
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {t("action.cancel")}
          </Button>
          <Button
            onClick={() => deploy.mutate()}
            loading={deploy.isPending}
            disabled={problems.length > 0 || tests.waiting || start === null}
            color={tests.failed.length > 0 ? "red.9" : undefined}
            data-testid="deploy-now"
          >
            {t(tests.failed.length > 0 ? "rehearsal.deployAnyway" : "deploy.now")}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

/** Whether to keep what steps remember, and below it what that means. */
function StateChoice(props: {
  state: State;
  onState: (state: State) => void;
  children: ReactNode;
}) {
  const { t } = useTranslation();
  const id = useId();
  return (
    <div>
      <Text size="xs" fw={500} id={id}>
        {t("deploy.state")}
      </Text>
      <SegmentedControl
        aria-labelledby={id}
        data={STATES.map((value) => ({ value, label: t(`deploy.${value}`) }))}
        value={props.state}
        onChange={(value) => props.onState(value as State)}
        mt={2}
      />
      {props.children}
    </div>
  );
}

/** The deployment of a pipeline in an environment; undefined where there is none yet. */
function useDeployedIn(pipeline: string, environment: string) {
  return useQuery({
    queryKey: ["deployments", pipeline],
    queryFn: () => listDeployments({ query: { pipeline, page_size: 200 } }),
    select: ({ items }) => items.find((one) => one.environment === environment),
    staleTime: 0,
  });
}

/** Which sentence says what beginning there means. */
export function helpOf(way: Way, deployedBefore: boolean, state: State) {
  if (deployedBefore && state === "keep")
    return way === "steps" ? "deploy.stepsKeep" : "deploy.otherKeep";
  return way === "steps" ? "deploy.stepsFresh" : "deploy.otherFresh";
}

function problemsOf(error: unknown): Problem[] {
  return error instanceof ApiError ? ((error.answer.problems ?? []) as Problem[]) : [];
}

function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function hash(text: string): string {
  let value = 5381;
  for (let i = 0; i < text.length; i++) value = (value * 33 + text.charCodeAt(i)) >>> 0;
  return value.toString(36);
}
