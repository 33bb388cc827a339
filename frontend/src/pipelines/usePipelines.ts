import { keepPreviousData, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "react-router";
import type { PipelineNew } from "../api/client";
import { createPipeline, importPipeline, listPipelines, listTemplates } from "../api/client";
import type { Template } from "../api/types";
import { sayError } from "../shell/say";

export const PAGE_SIZE = 50;

export function usePipelines(search: string, page: number) {
  return useQuery({
    queryKey: ["pipelines", search, page],
    queryFn: () => listPipelines({ query: { search, page, page_size: PAGE_SIZE } }),
    placeholderData: keepPreviousData,
  });
}

export function useTemplates() {
  return useQuery({
    queryKey: ["templates"],
    queryFn: async () => (await listTemplates()) as unknown as Template[],
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** Make a pipeline, empty or of a template or of an exported file, and open it. */
export function useMakePipeline() {
  const navigate = useNavigate();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (wanted: PipelineNew | { file: File }) =>
      "file" in wanted ? importFile(wanted.file) : createPipeline({ body: wanted }),
    onSuccess: ({ id }) => {
      void queries.invalidateQueries({ queryKey: ["pipelines"] });
      navigate(`/pipelines/${id}`);
    },
    onError: sayError,
  });
}

async function importFile(file: File) {
  const data = readExport(await file.text(), file.name);
  return importPipeline({ body: data });
}

/** An exported pipeline, or a bare graph, from a file's text. Throws a sentence for any other. */
export function readExport(text: string, file: string) {
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch {
    throw new Error(`${file} is no JSON.`);
  }
  const { name, graph } = (data ?? {}) as { name?: string; graph?: Record<string, unknown> };
  const named = name ?? file.replace(/\.json$/i, "");
  if (graph) return { name: named, graph };
  if (typeof data === "object" && data !== null && "steps" in data)
    return { name: named, graph: data as Record<string, unknown> };
  throw new Error(`${file} holds no pipeline: it has neither "graph" nor "steps".`);
}
