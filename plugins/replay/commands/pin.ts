import { text } from 'node:stream/consumers'
import type { Input, Io } from '#lib/command'
import type { ReplayCommandOptions } from './command-options.ts'
import { runId } from './run-id.ts'

/** Pins or unpins a run. Retention does not delete pinned runs. */
export const pinRun = async (
  { asking }: ReplayCommandOptions,
  input: Input,
  io: Io,
  pinned: boolean,
): Promise<number> => {
  const { trace_id, answer } = await asking(async (ask) => {
    const trace_id = await runId(ask, input.args[0])
    const path = `/api/v1/runs/${encodeURIComponent(trace_id)}/pin`
    return { trace_id, answer: await text(await ask('POST', path, JSON.stringify({ pinned }))) }
  })
  io.out.write(input.options.json === true ? `${answer}\n` : `${trace_id} ${pinned ? 'pinned' : 'unpinned'}\n`)
  return 0
}
