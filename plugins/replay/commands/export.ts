import { Readable } from 'node:stream'
import type { AskStream, Input, Io } from '#lib/command'
import { outputOf } from '#lib/terminal'
import type { ReplayCommandOptions } from './command-options.ts'
import { Progress } from './progress.ts'
import { runPath } from './run-id.ts'

/** Writes a run in an export format. Throws USAGE if the file exists. */
export const exportRun = async ({ asking }: ReplayCommandOptions, input: Input, io: Io): Promise<number> => {
  const { format = 'json', output, quiet, json } = input.options
  const write = await outputOf(input.options, io)
  const exportPath = async (ask: AskStream): Promise<string> =>
    `${await runPath(ask, input.args[0])}/export?format=${encodeURIComponent(String(format))}`
  const progress = new Progress('exporting', undefined, input, io)
  try {
    await asking(async (ask) => write(Readable.from(progress.counted(await ask('GET', await exportPath(ask))))))
  } finally {
    progress.done()
  }
  if (output !== undefined && quiet !== true && json !== true) io.err.write(`wrote ${String(output)}\n`)
  return 0
}
