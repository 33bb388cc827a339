import { Loader, Text } from "@mantine/core";
import {
  IconCircleCheck,
  IconCirclePlus,
  IconRefreshAlert,
  IconRestore,
} from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { type Fit, getFit } from "../api/client";
import styles from "./Deploy.module.css";
import { type Fate, fates } from "./fates";

const ICONS: Record<Fate, typeof IconRestore> = {
  goes_on: IconCircleCheck,
  anew: IconRefreshAlert,
  new: IconCirclePlus,
  afresh: IconRestore,
};

interface Asked {
  /** The deployment whose checkpoints are there; nothing is asked while there is none. */
  deployment: string | undefined;
  /** Null asks for the draft. */
  version: number | null;
  /** Left out, it is asked for the mode that the deployment has. */
  mode?: "auto" | "real_time" | "micro_batch";
  /** What the draft means, so that another one is asked for anew. */
  said?: string;
  enabled?: boolean;
  /** Save the draft, since the saved one is judged; throws where that failed. */
  save?: () => Promise<void>;
}

/** Which segments of a version, or of the draft, would go on from the checkpoints there are. */
export function useFit({ deployment, version, mode, said, enabled = true, save }: Asked) {
  return useQuery({
    queryKey: ["fit", deployment, version, mode, said],
    queryFn: async ({ signal }) => {
      await save?.();
      return getFit({
        path: { deployment_id: deployment ?? "" },
        query: { version, mode },
        signal,
      });
    },
    enabled: enabled && deployment !== undefined,
    // What is there changes with every run.
    staleTime: 0,
    gcTime: 0,
    retry: false,
  });
}

interface Props {
  fit: Fit | undefined;
  error: Error | null;
  /** Whether all that is remembered will be let go of. */
  fresh: boolean;
}

/** Segment by segment: what goes on from its checkpoint, and what begins anew. */
export function FitReport({ fit, error, fresh }: Props) {
  const { t } = useTranslation();
  return (
    <div aria-live="polite" data-testid="fit" data-fits={fit?.fits}>
      {!fit && !error && <Loader size="xs" type="dots" />}
      {error && (
        <Text size="xs" c="var(--hr-bad)" role="alert">
          {t("fit.unknown")} {error.message}
        </Text>
      )}
      {fit && (
        <ul className={styles.fates} aria-label={t("fit.name")}>
          {fates(fit, fresh).map(({ id, fate, message }) => {
            const Icon = ICONS[fate];
            return (
              <li key={id} className={styles.fate} data-fate={fate} data-segment-fit={id}>
                <Icon size={15} aria-hidden />
                <span>
                  <span className="mono">{id}</span> · <b>{t(`fit.${fate}`)}</b>
                </span>
                <p>{fresh ? t("fit.afreshHelp") : message}</p>
              </li>
            );
          })}
        </ul>
      )}
    </div>
  );
}
