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
import { useMutation } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { createDeployment } from "../api/client";
import type { Graph } from "../api/graph";
import { ApiError } from "../api/session";
import type { ChosenMode, Problem } from "../api/types";
import { meaning } from "../canvas/editGraph";
import { useProgram } from "../editor/useCheckedGraph";
import { DeployTests, useBeforeDeploy } from "../rehearsal/DeployTests";
import type { CaseRuns } from "../rehearsal/useCases";

const MODES = ["auto", "real_time", "micro_batch"] as const;
const STARTS = ["continue", "earliest", "latest"] as const;
type Start = (typeof STARTS)[number];

interface Props {
  pipeline: string;
  graph: Graph;
  titleOf: (step: string) => string;
  runs: CaseRuns;
  /** Whether a deployment is there whose place in its sources could be gone on from. */
  deployedBefore: boolean;
  /** Save the draft; false where that failed. */
  save: () => Promise<boolean>;
  onDeployed: (deployment: string) => void;
  onProblem: (problem: Problem) => void;
  onClose: () => void;
}

/** What to deploy, in which mode and from where; the reasons of the plan are shown. */
export function DeployDialog(props: Props) {
  const { pipeline, graph, titleOf, deployedBefore, save, onDeployed, onProblem, onClose } = props;
  const tests = useBeforeDeploy(pipeline, props.runs);
  const { t } = useTranslation();
  const [comment, setComment] = useState("");
  const [mode, setMode] = useState<ChosenMode>("auto");
  const [start, setStart] = useState<Start>("continue");
  const said = useMemo(() => JSON.stringify(meaning(graph)), [graph]);
  const plan = useProgram(said, true, mode);
  const problems = problemsOf(plan.error);

  // One key for this opening of the dialog: a second click asks for the same deployment.
  const [key] = useState(newKey);
  const deploy = useMutation({
    mutationFn: async () => {
      if (!(await save())) throw new ApiError(0, {}, t("deploy.notSaved"));
      return createDeployment({
        body: { pipeline, mode, comment, ...startOf(start) },
        headers: { "Idempotency-Key": `${key}-${mode}-${start}-${hash(said + comment)}` },
      });
    },
    onSuccess: ({ id }) => onDeployed(id),
  });
  const refused = [...problems, ...problemsOf(deploy.error)];

  return (
    <Modal opened onClose={onClose} title={t("deploy.title")} size="lg">
      <Stack gap="sm">
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
        <div>
          <Text size="xs" fw={500} id="deploy-start">
            {t("deploy.start")}
          </Text>
          <SegmentedControl
            aria-labelledby="deploy-start"
            data={STARTS.map((value) => ({ value, label: t(`deploy.${value}`) }))}
            value={start}
            onChange={(value) => setStart(value as Start)}
            mt={2}
          />
          <Text size="xs" c="dimmed" mt={4}>
            {t(
              start === "continue" && !deployedBefore
                ? "deploy.continueFirst"
                : `deploy.${start}Help`,
            )}
          </Text>
        </div>
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
            disabled={problems.length > 0 || tests.waiting}
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

/** What the choice means to the API: to begin elsewhere is to let go of what was remembered. */
export function startOf(start: Start) {
  if (start === "continue") return { state: "keep" as const };
  return { start, state: "fresh" as const };
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
