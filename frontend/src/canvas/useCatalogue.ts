import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { listStepTypes } from "../api/client";
import type { StepType } from "../api/stepTypes";
import type { Catalogue } from "./ports";

/** The step types by name, in the palette's order; undefined until they are there. */
export function useCatalogue(): Catalogue | undefined {
  const { data } = useQuery({
    queryKey: ["step-types"],
    queryFn: () => listStepTypes(),
    staleTime: Number.POSITIVE_INFINITY,
  });
  return useMemo(
    () => data && new Map((data as StepType[]).map((type) => [type.type, type])),
    [data],
  );
}
