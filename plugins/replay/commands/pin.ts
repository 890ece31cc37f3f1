import { text } from 'node:stream/consumers'
import type { Input, Io } from 'guard-gateway/lib/command'
import type { ReplayCommandOptions } from './command-options.ts'

/** Pins or unpins a run. Retention does not delete pinned runs. */
export const pinRun = async (
  { asking }: ReplayCommandOptions,
  input: Input,
  io: Io,
  pinned: boolean,
): Promise<number> => {
  const [trace_id = ''] = input.args
  const path = `/api/v1/runs/${encodeURIComponent(trace_id)}/pin`
  const answer = await asking(async (ask) => text(await ask('POST', path, JSON.stringify({ pinned }))))
  io.out.write(input.options.json === true ? `${answer}\n` : `${trace_id} ${pinned ? 'pinned' : 'unpinned'}\n`)
  return 0
}
