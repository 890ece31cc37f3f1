import type { ReadTool } from './tool.ts'
import { compareRuns } from './tools/compare-runs.ts'
import { getRun, getStep } from './tools/get-run.ts'
import { listRuns, searchRuns } from './tools/list-runs.ts'
import { budgetsLeft, listSessions } from './tools/sessions.ts'
import { spend } from './tools/spend.ts'
import { whyFailed } from './tools/why-failed.ts'

/** All tools; every one only reads. */
export const tools: readonly ReadTool[] = [
  whyFailed,
  spend,
  listRuns,
  searchRuns,
  getRun,
  getStep,
  compareRuns,
  listSessions,
  budgetsLeft,
]

/** The tools as `tools/list` has them. */
export const listedTools: readonly object[] = tools.map(({ name, title, description, input, output }) => ({
  name,
  title,
  description,
  inputSchema: input,
  outputSchema: output,
  annotations: { title, readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
}))
