import { extname } from 'node:path'
import { GuardError } from 'guard-gateway/core'
import { OffThread, OffThreadTimeout } from 'guard-gateway/lib/off-thread'
import { locationIn } from './locations.ts'
import { readYaml, type Yaml, type YamlLimits, type YamlModule } from './reader.ts'
import type { YamlAnswer, YamlTask } from './work.ts'

/** Longer texts are read in a thread: of the worst, which are errors from end to end, 65,536 characters take half a second, and these a tenth of what a request may wait. */
export const OFF_THREAD_CHARS = 4_096
const LIMIT_MS = 10_000
// .ts from source, .js from a build
const WORK = new URL(`./work${extname(import.meta.filename)}`, import.meta.url).href

/**
 * Reads YAML as `readYaml` does, texts of more than `here_chars` in a thread of their own, which gets 10 s for it, since a busy machine is no fault of a text. `yaml` is the address of the package.
 * Throws GuardError INVALID_YAML.
 */
export const readYamlOffThread = async (
  yaml: string,
  text: string,
  { here_chars = OFF_THREAD_CHARS, ...options }: YamlLimits & { readonly here_chars?: number } = {},
  limit_ms = LIMIT_MS,
): Promise<Yaml> => {
  if (text.length <= here_chars) return readYaml((await import(yaml)) as YamlModule, text, options)
  const answer = await new OffThread<YamlTask, YamlAnswer>(WORK, { limit_ms, idle_ms: 0 })
    .run({ yaml, text, options })
    .catch((error: unknown) => {
      if (!(error instanceof OffThreadTimeout)) throw error
      throw new GuardError('INVALID_YAML', `The text takes longer than ${limit_ms / 1000} s to read. Make it shorter.`)
    })
  if ('refusal' in answer) throw new GuardError('INVALID_YAML', answer.refusal, answer.place)
  const { value, places } = answer
  return { value, locate: (path) => locationIn(places, path) }
}
